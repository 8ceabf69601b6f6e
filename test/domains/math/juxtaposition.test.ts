import { expect, test } from "vitest";
import { show, value } from "../../fixtures/latex.ts";

test.each([
  ["2x^3y", "(* 2 (^ x 3) y)"],
  ["-2\\frac{1}{3}", "-7/3"],
  ["2\\frac{1}{3}x", "(* 2 1/3 x)"],
  ["45^\\circ", "(* 45 unit:°)"],
  ["5\\text{ cm}", "(* 5 unit:cm)"],
  ["2\\frac{1}{2}\\text{ cm}", "(* 5/2 unit:cm)"],
  ["5/8\\text{ cm}", "(* 5/8 unit:cm)"],
  ["3\\text{ h }20\\text{ min}", "(+ (* 3 unit:h) (* 20 unit:min))"],
  ["(1,2)\\text{ cm}", "((* 1 unit:cm), (* 2 unit:cm))"],
  ["ABC", "(* a b c)"],
  ["n(n+1)", "(* n (+ n 1))"],
])("%s", (text, expected) => expect(show(value(text))).toBe(expected));
