// Mutants tried: lower case only, quotes untouched, strict for every text.
import { describe, expect, test } from "vitest";
import { standardize, standardizeValue } from "../../../lib/domains/function-calling/standardize.ts";
import { int, str } from "../../../lib/python/value.ts";

const same = (a: string, b: string, compat: "reference" | "strict") =>
  standardize(a, compat) === standardize(b, compat);

describe("the same by the reference alone", () => {
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
    expect([same(a, b, "reference"), same(a, b, "strict")]).toEqual([true, false]);
  });
});

test.each([
  ["a", "b"],
  ["a b", "a\tb"],
  ["a", "a!"],
])("%j and %j differ", (a, b) => {
  expect([same(a, b, "reference"), same(a, b, "strict")]).toEqual([false, false]);
});

test("only texts are put in standard form", () => {
  expect([standardizeValue(str("A-b"), "reference"), standardizeValue(int(-1), "reference")]).toEqual([
    str("ab"),
    int(-1),
  ]);
  expect(standardizeValue(str("A-b"), "strict")).toEqual(str("A-b"));
});
