import { expect, test } from "vitest";
import { plainNumerals, withoutGroupCommas } from "../../../lib/domains/math/numerals.ts";

// Deliberate faults (mutants) that these tests detect: groups of any length, mixed separators, a period of nines is
// off by one, 2e+1 is scientific, 2 3/2 is mixed.

test.each([
  ["1\\,000\\,000", "1000000"],
  ["1{,}000", "1000"],
  ["32,\\! 349", "32349"],
  ["1 000", "1000"],
  ["1\\,00", "1\\,00"],
  ["1\\,000\\,00", "1\\,000\\,00"],
  ["x^2 100", "x^2 100"],
  ["0.\\overline{6}", "{\\frac{6}{9}}"],
  ["1.2\\overline{3}", "{\\frac{111}{90}}"],
  ["0.\\dot{1}4\\dot{2}", "{\\frac{142}{999}}"],
  ["0.(6)", "{\\frac{6}{9}}"],
  ["0.5(3)", "0.5(3)"],
  ["1.2e4", "1.2E4"],
  ["1.5e-3", "1.5E-3"],
  ["1e10", "1E10"],
  ["2e+1", "2e+1"],
  ["2e-1", "2e-1"],
  ["2e^4", "2e^4"],
  ["2 1/2", "2\\frac{1}{2}"],
  ["2 3/2", "2 3/2"],
  ["2 1/2.", "2\\frac{1}{2}."],
  ["8e7.", "8E7."],
  ["{4 7/16}", "{4\\frac{7}{16}}"],
  ["(1011)_2", "1011_2"],
  ["1011_{\\text{two}}", "1011_{2}"],
  ["1011_{(2)}", "1011_{2}"],
  ["1011\\text{ base }2", "1011_{2}"],
  ["1011\\text{ (base 2)}", "1011_{2}"],
  ["(n)_2", "(n)_2"],
])("%j is %j", (text, expected) => expect(plainNumerals(text)).toBe(expected));

test.each([
  ["1,234", "1234"],
  ["x = 1,234,567.5", "x = 1234567.5"],
  ["\\text{dollars}1,234", "\\text{dollars}1234"],
  ["1,234, 5", "1,234, 5"],
  ["(1,234)", "(1,234)"],
  ["1,23", "1,23"],
])("%j is %j", (text, expected) => expect(withoutGroupCommas(text)).toBe(expected));
