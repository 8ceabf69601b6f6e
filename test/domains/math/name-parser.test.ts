import { expect, test } from "vitest";
import { parseAnswer } from "../../../lib/domains/math/parser.ts";
import { show, value } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: case is always ignored, the base is dropped, a text's exponent
// applies to all its units.

test.each([
  ["N", "n"],
  ["2R-r", "(+ (* 2 R) (* -1 r))"],
  ["\\Gamma+\\gamma", "(+ Gamma gamma)"],
  ["x_{12}", "x_{12}"],
  ["1011_2", "base(1011, 2, 1)"],
  ["200203_{-4}", "base(200203, 4, -1)"],
  ["5\\text{ m s}^{-1}", "(* 5 unit:m (^ unit:s -1))"],
  ["\\text{No Solution}", "nosolution"],
])("%s", (text, expected) => expect(show(value(text))).toBe(expected));

test("the reference folds every letter and drops the base", () => {
  const read = (text: string) => show(parseAnswer(text, { imaginary: false, strict: false }));
  expect([read("R-r"), read("1011_2")]).toEqual(["(+ r (* -1 r))", "1011"]);
});
