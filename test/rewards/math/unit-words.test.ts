import { expect, test } from "vitest";
import { dropUnits } from "../../../lib/rewards/math/unit-words.ts";

// Mutants this is meant to kill, not run yet: one pass instead of two, no plural, the empty answer allowed.

test.each([
  ["5 cm", "5"],
  ["5cm", "5"],
  ["5\\text{ cm}", "5"],
  ["5\\text{ cm}^2", "5"],
  ["5\\mbox{ m}", "5"],
  ["12 inches", "12"],
  ["3 square feet", "3"],
  ["\\frac{1}{2} hours", "\\frac{1}{2}"],
  ["cm", "cm"],
  ["\\text{cm}", "\\text{cm}"],
  ["x", "x"],
  ["abc", "abc"],
  ["3ab", "3"],
  ["\\text{Answer} = 15\\text{ cm}", "\\text{Answer} = 15\\text{ cm}"],
])("%j becomes %j", (text, expected) => expect(dropUnits(text)).toBe(expected));
