import { expect, test } from "vitest";
import { dropUnits } from "../../../lib/domains/math/unit-words.ts";

// Deliberate faults (mutants) that these tests detect: one pass instead of two, no plural, an empty answer is
// allowed, a text is taken out of a fraction.

test.each([
  ["5 cm", "5"],
  ["5cm", "5"],
  ["5\\text{ cm}", "5"],
  ["5\\text{ cm}^2", "5"],
  ["5\\mbox{ m}", "5"],
  ["5\\text{ m}\\text{ cm}^2", "5"],
  ["5 \\text{ cm^{2}}", "5"],
  ["5 \\text{ s}, 5 \\text{ s}", "5"],
  ["1-\\frac{1}{\\text{e}}", "1-\\frac{1}{\\text{e}}"],
  ["12 inches", "12"],
  ["3 square feet", "3"],
  ["\\frac{1}{2} hours", "\\frac{1}{2}"],
  ["cm", "cm"],
  ["\\text{cm}", "\\text{cm}"],
  ["x", "x"],
  ["abc", "abc"],
  ["3ab", "3"],
  ["5\\text{ maybe }7\\text{ cm}", "5"],
  ["5\\text{ m}, 55\\text{ m}", "5"],
  ["\\text{Answer} = 15\\text{ cm}", "\\text{Answer} = 15\\text{ cm}"],
])("%j becomes %j", (text, expected) => {
  expect(dropUnits(text)).toBe(expected);
});
