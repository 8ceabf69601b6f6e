import { describe, expect, test } from "vitest";
import { parseAnswer } from "../../../lib/domains/math/parser.ts";
import { BudgetExceeded, Undefined } from "../../../lib/domains/math/rational.ts";
import { SyntaxFault } from "../../../lib/domains/math/token.ts";
import { show, value } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: juxtaposition folds from the left, bars never close, f(x) is a
// product, 2 7/3 is a mixed number.

test.each([
  ["1+2-x", "(+ 1 2 (* -1 x))"],
  ["-5", "-5"],
  ["--5", "5"],
  ["x^10", "(^ x 10)"],
  ["2^3^2", "(^ (^ 2 3) 2)"],
  ["x^a^b", "(^ x (^ a b))"],
  ["2^{-1}", "(^ 2 -1)"],
  ["6/4", "3/2"],
  ["3:4", "3/4"],
  ["\\frac{x}{2}", "(* x (^ 2 -1))"],
  ["a/b/c", "(* a (^ b -1) (^ c -1))"],
  ["3\\cdot 4 \\times x", "(* 3 4 x)"],
  ["n!+5!", "(+ factorial(n) factorial(5))"],
  ["2^n!", "factorial((^ 2 n))"],
  ["3:4:5", "ratio(3/5, 4/5)"],
  ["3:4", "3/4"],
  ["n(n+1)^2", "(* n (^ (+ n 1) 2))"],
])("%s", (text, expected) => expect(show(value(text))).toBe(expected));

describe("mixed numbers", () => {
  const reference = (text: string) => show(parseAnswer(text, { imaginary: false, strict: false }));
  test("add a proper fraction; the reference adds anything positive", () => {
    expect([show(value("2(3)")), reference("2(3)")]).toEqual(["(* 2 3)", "5"]);
    expect([show(value("2\\frac{5}{3}")), reference("2\\frac{5}{3}")]).toEqual(["(* 2 5/3)", "11/3"]);
    expect(reference("1 000")).toBe("(* 1 0)");
  });
});

test.each([
  "",
  "1+",
  "(1",
  "1)",
  "{1",
  "|x",
  "\\frac{1}{}",
  "\\sqrt",
  "x^",
  "x_",
  "\\binom{5}",
  "(1,2)+1",
  "2\\cdot\\{1,2\\}",
  "\\partial",
  "m,n\\%",
])("%j is no expression", (text) => expect(() => value(text)).toThrow(SyntaxFault));

test("a literal division by zero is undefined, not a fault", () => {
  expect(() => value("\\frac{1}{0}")).toThrow(Undefined);
  expect(() => value("12:00")).toThrow(Undefined);
});

test("deep nesting and endless digits end early", () => {
  expect(() => value(`${"(".repeat(5000)}1${")".repeat(5000)}`)).toThrow(SyntaxFault);
  expect(() => value(`${"{".repeat(5000)}`)).toThrow(SyntaxFault);
  expect(() => value("9".repeat(10_000))).toThrow(BudgetExceeded);
  expect(show(value(`${"-".repeat(999)}1`))).toBe("-1");
});
