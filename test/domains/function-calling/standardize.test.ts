// Deliberate faults (mutants) that these tests detect: only lower case is applied, quotes are unchanged.
import { describe, expect, test } from "vitest";
import { standardize } from "../../../lib/domains/function-calling/standardize.ts";

const same = (a: string, b: string) => standardize(a) === standardize(b);

describe("the same to the reference", () => {
  test.each([
    ["April 1, 2024", "april 1 2024"],
    ["New York, NY", "new-york_ny."],
    ["2022-03-11", "2022/03/11"],
    ["it's", 'IT"S'],
    ["x^2*y", "x2y"],
    ["1,000.5", "1000.5"],
    ["3.5", "35"],
    ["-5", "5"],
    ["- 5", "5"],
    ["0.5", "05"],
  ])("%s and %s", (a, b) => {
    expect(same(a, b)).toBe(true);
  });
});

test.each([
  ["a", "b"],
  ["a b", "a\tb"],
  ["a", "a!"],
])("%j and %j differ", (a, b) => {
  expect(same(a, b)).toBe(false);
});
