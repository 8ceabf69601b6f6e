import { describe, expect, test } from "vitest";
import { parseAnswer } from "../../../lib/domains/math/parser.ts";
import { BudgetExceeded, Undefined } from "../../../lib/domains/math/rational.ts";
import { SyntaxFault } from "../../../lib/domains/math/token.ts";
import { show, value } from "../../fixtures/latex.ts";

// Mutants tried: juxtaposition folded from the left, bars never closing, f(x) read as a product, 2 7/3 as a mixed number.

test.each([
  ["1+2-x", "(+ 1 2 (* -1 x))"],
  ["-5", "-5"],
  ["--5", "5"],
  ["2x^3y", "(* 2 (^ x 3) y)"],
  ["x^10", "(^ x 10)"],
  ["2^3^2", "(^ (^ 2 3) 2)"],
  ["x^a^b", "(^ x (^ a b))"],
  ["2^{-1}", "(^ 2 -1)"],
  ["\\frac{6}{4}", "3/2"],
  ["6/4", "3/2"],
  ["3:4", "3/4"],
  ["\\frac{x}{2}", "(* x (^ 2 -1))"],
  ["a/b/c", "(* a (^ b -1) (^ c -1))"],
  ["3\\cdot 4 \\times x", "(* 3 4 x)"],
  ["-2\\frac{1}{3}", "-7/3"],
  ["2\\frac{1}{3}x", "(* 2 1/3 x)"],
  ["\\sqrt{2}\\sqrt[3]{x}", "(* (^ 2 1/2) (^ x 1/3))"],
  ["|x-1||y|", "(* abs((+ x -1)) abs(y))"],
  ["\\left|x\\right|".replace(/\\left|\\right/g, ""), "abs(x)"],
  ["\\lfloor x \\rfloor + \\lceil y \\rceil", "(+ floor(x) ceil(y))"],
  ["n!+5!", "(+ factorial(n) factorial(5))"],
  ["2^n!", "factorial((^ 2 n))"],
  ["{n \\choose 2}", "binomial(n, 2)"],
  ["45^\\circ", "(* 45 unit:°)"],
  ["204_5", "base(204, 5, 1)"],
  ["204_{10}", "204"],
  ["5\\text{ cm}", "(* 5 unit:cm)"],
  ["2\\frac{1}{2}\\text{ cm}", "(* 5/2 unit:cm)"],
  ["5/8\\text{ cm}", "(* 5/8 unit:cm)"],
  ["3\\text{ h }20\\text{ min}", "(+ (* 3 unit:h) (* 20 unit:min))"],
  ["(1,2)\\text{ cm}", "((* 1 unit:cm), (* 2 unit:cm))"],
  ["3:4:5", "ratio(3/5, 4/5)"],
  ["3:4", "3/4"],
  ["\\sin 30^\\circ", "sin((* 30 pi (^ 180 -1)))"],
  ["x_1+x_{12}", "(+ x_1 x_{12})"],
  ["C_5^2", "(^ c_5 2)"],
  ["C^2_5", "(^ c_5 2)"],
  ["ABC", "(* a b c)"],
  ["\\text{(A) yes}", "ayes"],
  ["\\vec{v}", "vec{v}"],
  ["\\Gamma+\\pi+I+e", "(+ gamma pi i e)"],
  ["f(x)", "f(x)"],
  ["n(n+1)", "(* n (+ n 1))"],
  ["n(n+1)^2", "(* n (^ (+ n 1) 2))"],
  ["f(x, y+1)", "f(x, (+ y 1))"],
  ["5.0E2", "500d"],
  ["[x+1]2", "(* (+ x 1) 2)"],
  ["(C)", "c"],
  ["x=_".slice(0, 1), "x"],
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
