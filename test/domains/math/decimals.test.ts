import { expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { decimalsMatch, isDecimal } from "../../../lib/domains/math/decimals.ts";
import { expression } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: five places are enough, the cut may round in either direction,
// no relative error, the longer one is shortened to itself.

test.each([
  ["0.1", "0.100", true],
  ["0.1", "0.10000001", false],
  ["0.10000001", "0.1", false],
  ["\\frac{1}{3}", "0.33333", false],
  ["\\frac{1}{3}", "0.333333", true],
  ["\\frac{2}{3}", "0.666666", true],
  ["\\frac{2}{3}", "0.666667", true],
  ["\\frac{1}{3}", "0.333334", false],
  ["\\frac{300}{7}", "42.857142857143", true],
  ["42.857143", "42.857142857143", true],
  ["42.857142857143", "42.857143", true],
  ["42.857142857143", "42.857144", false],
  ["-\\frac{2}{3}", "-0.666666", true],
  ["\\pi", "3.1415926", true],
  ["\\pi", "3.1415928", false],
  ["0.0000004", "0", false],
  ["5", "4.9999999", false],
  ["33.333333\\%", "\\frac{1}{3}", true],
])("%s and %s: %s", (gold, answer, expected) =>
  expect(decimalsMatch(expression(gold), expression(answer), new Budget())).toBe(expected),
);

test("no verdict on what has no real value; whether a decimal stands anywhere in it", () => {
  expect(decimalsMatch(expression("i"), expression("0.5"), new Budget())).toBeUndefined();
  expect([isDecimal(expression("2^{0.5}")), isDecimal(expression("2^5"))]).toEqual([true, false]);
});
