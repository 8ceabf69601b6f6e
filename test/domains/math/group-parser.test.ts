import { expect, test } from "vitest";
import { SyntaxFault } from "../../../lib/domains/math/token.ts";
import { show, value } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: bars in brackets are not counted separately, f(x+1) is a
// product of x(x+1), [1;2] is a tuple.

test.each([
  ["|x|(y+1)", "(* abs(x) (+ y 1))"],
  ["(|x|)", "abs(x)"],
  ["[1;2]", "[1, 2]"],
  ["(1,2,3)", "<1, 2, 3>"],
  ["\\{1,2\\}", "{1, 2}"],
  ["{5 \\choose 2}", "binomial(5, 2)"],
  ["f(x)", "f(x)"],
  ["x(y+1)", "(* x (+ y 1))"],
  ["\\langle 1,2,3\\rangle", "<1, 2, 3>"],
])("%s", (text, expected) => expect(show(value(text))).toBe(expected));

test.each(["(1,2", "[1,2,3)", "\\langle 1,2)", "|x"])("%j is unbalanced", (text) =>
  expect(() => value(text)).toThrow(SyntaxFault),
);
