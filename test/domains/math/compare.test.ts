import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { matches } from "../../../lib/domains/math/compare.ts";
import { parseAnswer } from "../../../lib/domains/math/parser.ts";

// Deliberate faults (mutants) that these tests detect: decimals are compared exactly, whole numbers are compared
// rounded, the first of a chain is taken instead of the last, a symbol equals any product of as many letters.

function verdicts(gold: string, answer: string): string {
  const [reference, strict] = [false, true].map((mode) => {
    const read = (text: string) => parseAnswer(text, { imaginary: mode, strict: mode });
    return matches(read(gold), read(answer), { budget: new Budget(), strict: mode });
  });
  return reference === strict ? `${strict}` : `reference ${reference}, strict ${strict}`;
}

describe("numbers", () => {
  test.each([
    ["0.333", "\\frac{1}{3}", "false"],
    ["0.333333", "\\frac{1}{3}", "true"],
    ["\\frac{1}{3}", "0.33333", "false"],
    ["\\pi", "3.141593", "true"],
    ["\\pi", "3.14", "false"],
    ["\\sqrt{2}", "1.414214", "true"],
    ["2.5", "2.5000001", "reference true, strict false"],
    ["0.1", "0.10000001", "reference true, strict false"],
    ["42.857143", "42.857142857143", "true"],
    ["5", "5.0", "true"],
    ["5", "5.0000001", "false"],
    ["100", "99.9999999", "false"],
    ["5\\%", "0.05", "true"],
    ["10", "10\\%", "false"],
    ["33.3\\%", "0.333", "true"],
    ["e", "2.718281828", "true"],
    ["10^{-20}", "0", "false"],
    ["1.5E3", "1500", "true"],
    ["0.0000004", "0", "false"],
    ["0.0000004", "0.0000001", "reference true, strict false"],
    [".0000672", "0.0000671", "reference true, strict false"],
    ["\\frac{1}{2^{99}}", "\\frac{1}{2^{98}}", "reference true, strict false"],
    ["2^{2005}", "2^{2005}+1", "false"],
    ["5!", "120", "true"],
    ["2\\cdot\\frac{11.11}{2}", "11.11", "true"],
    ["i", "\\sqrt{-1}", "reference false, strict true"],
  ])("%s against %s: %s", (gold, answer, expected) => expect(verdicts(gold, answer)).toBe(expected));
});

describe("names and words", () => {
  test.each([
    ["\\text{no}", "no", "true"],
    ["\\text{Evelyn}", "Evelyn", "true"],
    ["C", "\\text{C}", "true"],
    ["C", "c", "true"],
    ["C", "D", "false"],
    ["\\text{on}", "no", "false"],
    ["\\text{no}", "on", "reference true, strict false"],
    ["R-r", "0", "reference true, strict false"],
    ["abc", "cba", "true"],
    ["5", "\\text{5}", "true"],
    ["2.5", "\\text{2.5}", "false"],
    ["E", "e", "true"],
    ["n", "n+0", "reference false, strict true"],
    ["n", "n+1", "false"],
  ])("%s against %s: %s", (gold, answer, expected) => expect(verdicts(gold, answer)).toBe(expected));
});

describe("assignments", () => {
  test.each([
    ["x=5", "5", "true"],
    ["5", "x=5", "true"],
    ["x=5", "y=5", "false"],
    ["y=2x", "2x", "true"],
    ["2x+z=1", "1", "false"],
    ["x=y=z=3", "3", "true"],
    ["b=10", "x=b=10", "false"],
    ["3", "x=y=3", "true"],
    ["x=1,x=2", "1,2", "true"],
    ["1<x<2", "(1,2)", "true"],
    ["(1,2)", "1<x<2", "reference false, strict true"],
    ["x\\ge 3", "[3,\\infty)", "true"],
    ["x\\neq 2", "(-\\infty,2)\\cup(2,\\infty)", "true"],
    ["x\\in[-2,7]", "[-2,7]", "true"],
    ["k\\neq 2", "k\\neq 2, k\\neq 2", "true"],
  ])("%s against %s: %s", (gold, answer, expected) => expect(verdicts(gold, answer)).toBe(expected));
});

describe("matrices", () => {
  test.each([
    ["\\begin{pmatrix}1\\\\2\\end{pmatrix}", "\\begin{bmatrix}1.0\\\\\\frac{4}{2}\\end{bmatrix}", "true"],
    ["\\begin{pmatrix}1\\\\2\\end{pmatrix}", "\\begin{pmatrix}1&2\\end{pmatrix}", "false"],
    ["\\begin{pmatrix}1\\\\2\\end{pmatrix}", "(1,2)", "reference false, strict true"],
    ["(1,2)", "\\begin{pmatrix}1\\\\2\\end{pmatrix}", "reference false, strict true"],
    ["(1,2)", "\\begin{pmatrix}2\\\\1\\end{pmatrix}", "false"],
    ["\\begin{pmatrix}1\\\\2\\end{pmatrix}", "1", "false"],
  ])("%s against %s: %s", (gold, answer, expected) => expect(verdicts(gold, answer)).toBe(expected));
});
