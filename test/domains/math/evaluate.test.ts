import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { magnitude, real } from "../../../lib/domains/math/complex.ts";
import { approximate, Evaluator, exactValue, symbolsUnder } from "../../../lib/domains/math/evaluate.ts";
import { type Rational, toText, Undefined } from "../../../lib/domains/math/rational.ts";
import { expression } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: floor is one too low at integers, opaque functions ignore
// their arguments, sums lack their last term.

/** Exact to 15 decimal places, whatever the size of numerator and denominator. */
const rounded = ({ n, d }: Rational): number => Number((n * 10n ** 15n) / d) / 1e15;

describe("values", () => {
  test.each([
    ["\\pi+e", Math.PI + Math.E],
    ["\\sin\\frac{\\pi}{6}", 0.5],
    ["\\cot 1", 1 / Math.tan(1)],
    ["\\sec 1", 1 / Math.cos(1)],
    ["\\csc 1", 1 / Math.sin(1)],
    ["\\arctan 2", Math.atan(2)],
    ["\\arccot 2", Math.atan(0.5)],
    ["\\arcsec 2", Math.acos(0.5)],
    ["\\arccsc 2", Math.asin(0.5)],
    ["\\tanh 1", Math.tanh(1)],
    ["\\arcosh 2", Math.acosh(2)],
    ["2^{\\sqrt{2}}", 2 ** Math.SQRT2],
    ["\\sqrt[3]{2}", Math.cbrt(2)],
    ["8^{2/3}", 4],
    ["|{-3}|", 3],
    ["\\lfloor{-\\pi}\\rfloor", -4],
    ["\\lceil 3\\rceil", 3],
    ["\\max(\\pi, 3)", Math.PI],
    ["7 \\bmod \\pi", 7 - 2 * Math.PI],
    ["5!-\\binom{6}{3}", 100],
    ["\\sum_{k=1}^{4} \\frac{1}{k}", 25 / 12],
    ["\\prod_{k=1}^{4} \\sqrt{k}", Math.sqrt(24)],
    ["33.5\\%", 0.335],
  ])("%s", (text, expected) => {
    const value = approximate(expression(text), new Budget());
    expect(value && rounded(value)).toBeCloseTo(expected, 12);
  });

  test.each([
    "\\infty",
    "\\frac{1}{\\sin 0}",
    "x",
    "\\int_0^1 x dx",
    "\\ln 0",
    "i",
    "\\lfloor i\\rfloor",
    "(1/2)!",
  ])("%s has no real value", (text) => expect(approximate(expression(text), new Budget())).toBeUndefined());
});

test("exact values are found where arithmetic is exact", () => {
  const text = (e: string) => {
    const value = exactValue(expression(e), new Budget());
    return value && toText(value);
  };
  expect([
    text("\\sqrt{169}"),
    text("2\\cdot\\frac{11.11}{2}"),
    text("\\log_2 8"),
    text("\\sqrt{2}"),
  ]).toEqual(["13", "1111/100", "3", undefined]);
});

test("an unknown function has one value per argument, however it was computed", () => {
  const at = new Evaluator(256, new Budget(), new Map([["x", real({ m: 3n, e: -1 })]]));
  const gap = (a: string, b: string) =>
    magnitude(at.subtract(at.value(expression(a)), at.value(expression(b))));
  expect(gap("f(x)", "f(x)")).toBe(Number.NEGATIVE_INFINITY);
  expect(gap("f(2x-x, 0)", "f(x+0, 0)")).toBe(Number.NEGATIVE_INFINITY);
  expect(gap("f(x, 0)", "f(x+1, 0)")).toBeGreaterThan(-64);
  expect(gap("f(x)", "g(x)")).toBeGreaterThan(-64);
});

test("a symbol without a value, and unbounded series, have none", () => {
  const at = new Evaluator(64, new Budget(), new Map());
  expect(() => at.value(expression("x"))).toThrow(Undefined);
  expect(() => at.value(expression("\\sum_{k=1}^{1000000000} k"))).toThrow(Undefined);
});

test("symbols under named functions and at the ends of series are found", () => {
  const names = new Set(["factorial"]);
  expect([...symbolsUnder(names, expression("(n+m)!+\\sum_{k=1}^{p} x"))].sort()).toEqual(["m", "n", "p"]);
});
