import { expect, test } from "vitest";
import { plainLatex } from "../../../lib/domains/math/presentation.ts";

// Deliberate faults (mutants) that these tests detect: \hspace is dropped without a space, the period of an ellipsis
// is cut, \text around words is unwrapped, a label with a meaningful word is dropped, ]0,1] is turned around without
// an outward bracket, braces of \choose are removed.

test.each([
  ["12", "12"],
  ["\\frac12.", "\\frac12"],
  ["$5$.", "5"],
  ["\\bf 3", "3"],
  ["{\\Large 3}", "3"],
  ["\\boldsymbol{\\frac{1}{2}}", "\\frac{1}{2}"],
  ["\\fbox{$3$}", "3"],
  ["\\underline{3}", "3"],
  ["\\color{red}{3}", "3"],
  ["\\textcolor{blue}{x}+1", "{x}+1"],
  ["5\\hspace{1cm}6", "5 6"],
  ["2{:}30", "2:30"],
  ["30°", "30^{\\circ}"],
  ["90\\degree", "90^{\\circ}"],
  ["\\bm{64^\\circ}", "64^{\\circ}"],
  ["100°C", "100\\text{°C}"],
  ["2√3", "2\\sqrt{3}"],
  ["x²", "x^{2}"],
  ["2½", "2\\frac{1}{2}"],
  ["\\varnothing", "\\emptyset"],
  ["\\text{Answer: }7", "7"],
  ["\\text{The answer is } x = 7", "x = 7"],
  ["\\text{Area: }7", "7"],
  ["\\text{not: }7", "\\text{not: }7"],
  ["\\text{Yes.}", "\\text{Yes}"],
  ["\\text{Mon}\\text{day}.", "\\text{Monday}"],
  ["5\\text{ m}\\text{ s}", "5\\text{ m}\\text{ s}"],
  ["\\underbrace{x^{2}+1}_{\\text{a {b}}} + 3", "{x^{2}+1} + 3"],
  ["\\overbrace{12}^n", "12"],
  ["\\text{-\\frac{35}{9}}", "-\\frac{35}{9}"],
  ["]0,1[", "(0,1)"],
  ["]0,1]", "(0,1]"],
  ["[0,1]", "[0,1]"],
  ["\\sqrt[3]{2}", "\\sqrt[3]{2}"],
  ["\\{x \\mid x>3\\}", "x>3"],
  ["1 \\text{ or } 2", "1\\lor  2"],
  ["1 \\text{ and } 2", "1, 2"],
  ["\\$5", "\\text{dollars}5"],
  ["1,234 \\text{ cm}", "1234 \\text{ cm}"],
  ["{5 \\choose 2}", "{5 \\choose 2}"],
  ["0.333...", "0.333..."],
  ["60\\,\\frac{\\text{km}}{\\text{h}}", "60 \\text{km/h}"],
  ["\\unknown{3}", "\\unknown{3}"],
])("%j is %j", (boxed, expected) => expect(plainLatex(boxed)).toBe(expected));

test("is not undone by itself", () => {
  for (const text of ["\\frac12", "(1,2]", "a + b", "5\\text{ cm}", "x=3", "1011_{2}"]) {
    expect(plainLatex(plainLatex(text))).toBe(plainLatex(text));
  }
});
