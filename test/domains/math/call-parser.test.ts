import { expect, test } from "vitest";
import { SyntaxFault } from "../../../lib/domains/math/token.ts";
import { show, value } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: sin^{-1} is a power, log has base e, arguments extend past the
// next function, minors have no sign, matrices may be ragged, determinants of any shape or size, integrals are always
// over x, matrices are not multiplied, or in any shape.

test.each([
  ["\\sin x", "sin(x)"],
  ["\\sin 2x\\cos x", "(* sin((* 2 x)) cos(x))"],
  ["\\sin(x)/2", "(* sin(x) (^ 2 -1))"],
  ["\\ln 5\\cdot 2", "ln((* 5 2))"],
  ["\\ln(x+1)(x-1)", "(* ln((+ x 1)) (+ x -1))"],
  ["\\sin^2 x", "(^ sin(x) 2)"],
  ["\\sin^{-1} x", "arcsin(x)"],
  ["\\arctan\\frac{1}{2}", "arctan(1/2)"],
  ["\\operatorname{arsinh} x", "arcsinh(x)"],
  ["\\log_2 8", "(* ln(8) (^ ln(2) -1))"],
  ["\\log 100", "(* ln(100) (^ ln(10) -1))"],
  ["\\exp(x)", "(^ e x)"],
  ["\\ln|x-4|", "ln(abs((+ x -4)))"],
  ["\\gcd(12, 18)", "gcd(12, 18)"],
  ["\\max(a, b)^2", "(^ max(a, b) 2)"],
  ["\\sum_{k=1}^{n} k^2", "sum(k: 1, n, (^ k 2))"],
  ["\\int_0^1 x^2 dx", "integral(x: 0, 1, (^ x 2))"],
  ["\\int x\\,dt", "integral(t: x)"],
  ["\\lim_{x \\to 0} \\frac{\\sin x}{x}", "limit(x: 0, (* sin(x) (^ x -1)))"],
  ["\\begin{pmatrix}1&2\\\\3&4\\\\\\end{pmatrix}", "[1, 2; 3, 4]"],
  ["\\begin{array}{cc}1&2\\end{array}", "[1, 2]"],
  ["\\begin{pmatrix}1\\\\2\\end{pmatrix}^T", "[1, 2]"],
  ["2\\begin{pmatrix}1\\\\x\\end{pmatrix}", "[(* 2 1); (* 2 x)]"],
  ["\\begin{pmatrix}1&2\\end{pmatrix}\\begin{pmatrix}3\\\\x\\end{pmatrix}", "[(+ (* 1 3) (* 2 x))]"],
  [
    "\\begin{pmatrix}1\\\\2\\end{pmatrix}k\\begin{pmatrix}3&4\\end{pmatrix}",
    "[(* 1 k 3), (* 1 k 4); (* 2 k 3), (* 2 k 4)]",
  ],
  ["\\begin{pmatrix}1&2\\end{pmatrix}\\begin{pmatrix}3&4\\end{pmatrix}", "(* [1, 2] [3, 4])"],
  ["\\begin{vmatrix}1&2\\\\3&4\\end{vmatrix}", "(+ (* 1 4) (* -1 2 3))"],
  ["\\det\\begin{pmatrix}5\\end{pmatrix}", "5"],
])("%s", (text, expected) => expect(show(value(text))).toBe(expected));

test.each([
  "\\sin",
  "\\max 3",
  "\\operatorname{foo}(3)",
  "\\sum_{2=1}^3 k",
  "\\begin{pmatrix}1&2\\\\3\\end{pmatrix}",
  "\\begin{pmatrix}1&2",
  "\\begin{vmatrix}1&2\\end{vmatrix}",
  "\\det(A)",
  `\\begin{vmatrix}${Array(5).fill("1&2&3&4&5").join("\\\\")}\\end{vmatrix}`,
  "\\lim x",
])("%j is no expression", (text) => expect(() => value(text)).toThrow(SyntaxFault));
