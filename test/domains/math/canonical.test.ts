import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { canonical, NoCanonicalForm } from "../../../lib/domains/math/canonical.ts";
import { FractionField } from "../../../lib/domains/math/fraction-field.ts";
import { PolynomialRing } from "../../../lib/domains/math/polynomial.ts";
import { BudgetExceeded, Undefined } from "../../../lib/domains/math/rational.ts";
import { expression } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: roots of quotients ignore the denominator, (-1)^n is dropped,
// exponents are split without their constant, logarithms of quotients are added.

function same(a: string, b: string): boolean {
  const field = new FractionField(new PolynomialRing(new Budget()));
  return field.equal(canonical(expression(a), field), canonical(expression(b), field));
}

describe("exact forms decide", () => {
  test.each([
    ["(x+1)^2", "x^2+2x+1"],
    ["\\frac{x^2-1}{x-1}", "x+1"],
    ["\\frac{1}{x}+\\frac{1}{y}", "\\frac{x+y}{xy}"],
    ["\\sqrt{8}", "2\\sqrt{2}"],
    ["\\frac{1}{\\sqrt{2}}", "\\frac{\\sqrt{2}}{2}"],
    ["\\sqrt{6}", "\\sqrt{2}\\sqrt{3}"],
    ["\\sqrt{\\frac{8}{3}}", "\\frac{2\\sqrt{6}}{3}"],
    ["\\frac{1}{\\sqrt{2}-1}", "\\sqrt{2}+1"],
    ["\\sqrt[3]{54}", "3\\sqrt[3]{2}"],
    ["\\sqrt{-4}", "2i"],
    ["(1+i)^2", "2i"],
    ["2^{n+1}", "2\\cdot 2^n"],
    ["4^n", "2^{2n}"],
    ["(\\frac{3}{4})^n", "\\frac{3^n}{2^{2n}}"],
    ["(-2)^n", "(-1)^n 2^n"],
    ["e^{x+1}", "e\\cdot e^x"],
    ["2^{2005}-2^{2004}", "2^{2004}"],
    ["\\ln 8", "3\\ln 2"],
    ["\\ln\\frac{80}{20}", "2\\ln 2"],
    ["\\ln\\frac{2}{3}", "\\ln 2-\\ln 3"],
    ["\\log_2 8", "3"],
    ["5!", "120"],
    ["\\binom{15}{7}", "6435"],
    ["\\lfloor\\frac{7}{2}\\rfloor", "3"],
    ["\\sum_{k=1}^{10} k x", "55x"],
    ["\\prod_{k=1}^{5} k", "120"],
    ["50\\%", "\\frac{1}{2}"],
    ["\\sin(x+x)", "\\sin(2x)"],
    ["(x+1)^{100}", "((1+x)^{50})^2"],
  ])("%s = %s", (a, b) => expect(same(a, b)).toBe(true));

  test.each([
    ["\\sqrt{2}+\\sqrt{3}", "\\sqrt{5}"],
    ["2^{n+1}", "2^n+1"],
    ["(-1)^n", "1"],
    ["\\sqrt{x^2}", "x"],
    ["2^{2005}", "2^{2005}+1"],
    ["\\frac{1}{2^{99}}", "\\frac{1}{2^{98}}"],
    ["\\pi", "3.14159265358979323846264338327950288419716939937510"],
  ])("%s is not %s", (a, b) => expect(same(a, b)).toBe(false));
});

test.each([
  ["\\frac{1}{x-x}", Undefined],
  ["\\ln 0", Undefined],
  ["0^{-1/2}", Undefined],
  ["9^{9^{9^9}}", BudgetExceeded],
  ["(a+b+c+d)^{24}(a-b+2c-d)^{24}", BudgetExceeded],
  ["\\infty", NoCanonicalForm],
  ["\\begin{pmatrix}1\\end{pmatrix}", NoCanonicalForm],
])("%s has no form", (text, error) =>
  expect(() => canonical(expression(text), new FractionField(new PolynomialRing(new Budget())))).toThrow(
    error,
  ),
);
