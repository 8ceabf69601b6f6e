import fc from "fast-check";
import { expect, test } from "vitest";
import { lastEquated, normalizeLatex } from "../../../lib/domains/math/normalize.ts";

// Deliberate faults (mutants) that these tests detect: bare arguments of \frac get no braces, \left stays, "and" is
// replaced inside words, 0.5 stays a decimal.

test.each([
  ["\\dfrac{1}{2}", "\\frac{1}{2}"],
  ["\\frac12", "\\frac{1}{2}"],
  ["\\frac xy", "\\frac{x}{y}"],
  ["\\frac1{2}", "\\frac{1}{2}"],
  ["\\frac{1}2", "\\frac{1}{2}"],
  ["\\frac 1 23", "\\frac{1}{23}"],
  ["\\sqrt3", "\\sqrt{3}"],
  ["\\sqrt x", "\\sqrt{x}"],
  ["sqrt(3)", "\\sqrt{3}"],
  ["\\log_2 8", "\\log_{2}{8}"],
  ["2^(n+1)", "2^{n+1}"],
  ["3/4", "\\frac{3}{4}"],
  ["03/4", "03/4"],
  ["x/4", "x/4"],
  [".5", "\\frac{1}{2}"],
  ["0.5", "\\frac{1}{2}"],
  [".25", "0.25"],
  ["{.25}", "{0.25}"],
  ["\\left( 1, 2 \\right]", "( 1, 2 ]"],
  ["\\left[\\begin{matrix}1\\end{matrix}\\right]", "\\begin{bmatrix}1\\end{bmatrix}"],
  ["$5$", "5"],
  ["\\$5", "5"],
  ["10,\\!080", "10,080"],
  ["1{,}000", "1,000"],
  ["1 and 2", "1, 2"],
  ["1 \\text{ or } 2", "1, 2"],
  ["band", "band"],
  ["\\mathrm{cm}+1", "\\text{cm}+1"],
  ["50 percent", "50%"],
  ["infinity", "\\infty"],
  ["1, \\ldots, 9", "1, , 9"],
  ["x ~= 3", "x \\approx 3"],
  ["\\\\frac{1}{2}", "\\frac{1}{2}"],
  ["(n)_{k}", "\\frac{(n)!}{((n)-(k))!}"],
  ["5\\mathrm{th}", "5"],
  ['"5"', "5"],
  ["\\displaystyle 5", "5"],
])("%s becomes %s", (text, expected) => expect(normalizeLatex(text).replace(/ +/g, " ")).toBe(expected));

test("plain integers are left alone, and nothing throws", () => {
  fc.assert(
    fc.property(fc.bigInt(), (n) => {
      expect(normalizeLatex(`${n}`)).toBe(`${n}`);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (text) => {
      normalizeLatex(text);
    }),
  );
});

test.each([
  ["a=b=3", "3"],
  ["a=3", undefined],
  ["a=b=1,c=2", undefined],
  ["a\\le b=c", undefined],
  ["a<=b=c=d", "d"],
])("the last part of %s is %s", (text, expected) => expect(lastEquated(text)).toBe(expected));
