import { expect, test } from "vitest";
import {
  amount,
  compare,
  noArguments,
  ordinal,
  phrase,
  relation,
  trimmed,
} from "../../../lib/domains/instruction-following/arguments.ts";

test("there are two comparisons", () => {
  expect([2, 3, 4].map((n) => compare(n, "at least", 3))).toEqual([false, true, true]);
  expect([2, 3, 4].map((n) => compare(n, "less than", 3))).toEqual([true, false, false]);
  expect(
    ["at least", "less than", "at most", "", null].map((how) => relation.safeParse(how).success),
  ).toEqual([true, true, false, false, false]);
});

test.each([
  [0, true, false],
  [3, true, true],
  [3.0, true, true],
  [-1, false, false],
  [1.5, false, false],
  ["3", false, false],
  [null, false, false],
  [Number.NaN, false, false],
])("%j: an amount %j, an ordinal %j", (value, isAmount, isOrdinal) => {
  expect([amount.safeParse(value).success, ordinal.safeParse(value).success]).toEqual([isAmount, isOrdinal]);
});

test("a phrase says something, and no arguments are none whatever is given", () => {
  expect(["a", " a ", " ", "", 1].map((value) => phrase.safeParse(value).success)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(noArguments.parse({ a: 1 })).toEqual({});
});

test("a phrase can be had without the white space around it", () => {
  expect(trimmed.parse(" a b\n")).toBe("a b");
  expect(trimmed.safeParse(" \n").success).toBe(false);
});
