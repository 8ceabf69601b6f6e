import { describe, expect, test } from "vitest";
import { parseAnswer } from "../../../lib/domains/math/parser.ts";
import type { Expr } from "../../../lib/domains/math/syntax.ts";
import { SyntaxFault } from "../../../lib/domains/math/token.ts";
import { show, value } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: a ± b is one element, union binds tighter than intersection,
// "x = 1, 2" is two elements, an approximation always takes the right side.

describe("lists and sets", () => {
  test.each([
    ["5,000", "5000"],
    ["-1,234.50", "-2469/2d"],
    ["5,00", "{5, 0}"],
    ["5, 000", "{5, 0}"],
    ["1,2,3", "{1, 2, 3}"],
    ["1;2", "{1, 2}"],
    ["1,2;3,4", "{<1, 2>, <3, 4>}"],
    ["\\{1,2\\}", "{1, 2}"],
    ["\\{x\\}", "x"],
    ["\\{\\}", "empty"],
    ["\\pm 3", "{-3, 3}"],
    ["1\\pm\\sqrt{2}", "{(+ 1 (^ 2 1/2)), (+ 1 (* -1 (^ 2 1/2)))}"],
    ["(1,2),(3,4)", "{(1, 2), (3, 4)}"],
  ])("%s", (text, expected) => expect(show(value(text))).toBe(expected));
});

describe("tuples and intervals", () => {
  test.each([
    ["(1,2)", "(1, 2)"],
    ["[1,2)", "[1, 2)"],
    ["(-\\infty,3]", "((* -1 infinity), 3]"],
    ["(1,2,3)", "<1, 2, 3>"],
    ["(1;2)", "(1, 2)"],
    ["x<1\\lor x>3", "(union ((* -1 infinity), 1) (3, infinity))"],
    ["x=1\\lor x=3", "{x = 1, x = 3}"],
    ["\\langle 1,2\\rangle", "<1, 2>"],
    ["(1\\pm 2)", "<(+ 1 2), (+ 1 -2)>"],
    ["(1,2)\\cup[3,4]\\cap\\mathbb{R}", "(union (1, 2) (intersection [3, 4] R))"],
    ["\\mathbb{R}\\setminus\\{0,1\\}", "(difference R {0, 1})"],
  ])("%s", (text, expected) => expect(show(value(text))).toBe(expected));
});

describe("relations", () => {
  test.each([
    ["x=5", "x = 5"],
    ["x==5", "x = 5"],
    ["a=b=3", "a = b = 3"],
    ["1<x\\le 2", "1 < x <= 2"],
    ["x=1,y=2", "{x = 1, y = 2}"],
    ["x=1,2", "x = {1, 2}"],
    ["x=1\\pm 2", "x = {(+ 1 2), (+ 1 -2)}"],
    ["x\\in(1,2)", "x = (1, 2)"],
    ["x\\in(1,2)\\cup(3,4)", "x = (union (1, 2) (3, 4))"],
    ["x\\notin\\mathbb{Z}", "x != Z"],
    ["(x,y)=(1,2)", "<x, y> = (1, 2)"],
    ["f(x)=x^2", "f(x) = (^ x 2)"],
    ["(p=q)", "p = q"],
    ["\\{b=10\\}", "b = 10"],
  ])("%s", (text, expected) => expect(show(value(text))).toBe(expected));
});

test("an approximation keeps the exact side unless that is only a name, and is reported", () => {
  const approximations: [Expr, Expr][] = [];
  const read = (text: string) => show(parseAnswer(text, { imaginary: true, strict: true, approximations }));
  expect(read("\\sqrt{2}\\approx 1.41")).toBe("(^ 2 1/2)");
  expect(approximations.map((pair) => pair.map(show))).toEqual([["(^ 2 1/2)", "141/100d"]]);
  expect([read("N \\approx 1.5"), read("\\frac{n}{2}\\approx 1"), read("-n\\approx 1")]).toEqual([
    "3/2d",
    "1",
    "(* -1 n)",
  ]);
});

test.each(["(1,2,3)\\approx 1", "(1,2)<3", "1=2\\in x", "(x=1)\\cup(1,2)", "1,,2", "(1,2}", "[1,2,3)"])(
  "%j is no answer",
  (text) => expect(() => value(text)).toThrow(SyntaxFault),
);
