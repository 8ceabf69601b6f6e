// Deliberate faults (mutants) that these tests detect: qualifiers of the unknown are dropped; inequalities are
// dropped; "k in N" equals "k in Z"; an option's letter alone stands for letter and text.
import { expect, test } from "vitest";
import { boxed, judge } from "./verdicts.ts";

const accepts = async (gold: string, answer: string): Promise<boolean> =>
  (await judge(gold, boxed(answer))).startsWith("correct");

test.each([
  ["f(x)=2x", "f(x)=2x \\text{ for all real } x"],
  ["\\frac{\\pi}{4}+k\\pi, k\\in\\mathbb{Z}", "\\frac{\\pi}{4}+k\\pi"],
  ["2^n, n \\ge 1", "2^n, n \\in \\mathbb{N}"],
  ["x=1+t, y=2-t", "x=1+t, y=2-t, t \\in \\mathbb{R}"],
  ["x^2+C", "x^2+C, \\text{ where } C \\text{ is a constant}"],
  ["a_n=2^n", "a_n = 2^n \\text{ for } n \\ge 1"],
  ["(C)", "\\text{(C) }12"],
  ["\\text{(C) }12", "12"],
  ["\\text{(C) }12", "C"],
  ["C", "C. 12"],
])("%j accepts %j", async (gold, answer) => expect(await accepts(gold, answer)).toBe(true));

test.each([
  ["2", "x=2, x \\in \\mathbb{R}, x > 2"],
  ["x=2", "x=2, x > 2"],
  ["x", "x, x \\in \\mathbb{Z}"],
  ["n", "n, n \\in \\mathbb{Z}"],
  ["n=2m", "n=2m, n \\in \\mathbb{Z}"],
  ["x>0", "x>0, x \\in \\mathbb{Z}"],
  ["y=2x", "y=2x, x \\in \\mathbb{Z}"],
  ["y=2x, x \\ge 0", "y=2x"],
  ["2x", "2x \\text{ for } x > 0"],
  ["k\\pi", "k\\pi, k \\in \\mathbb{N}"],
  ["k\\pi", "k\\pi, k \\in \\mathbb{R}"],
  ["C", "C. D"],
  ["k\\pi, k \\in \\mathbb{Z}", "k\\pi, k \\in \\mathbb{N}"],
  ["x=3k", "x=3k, k \\ge 0"],
  ["2^n", "3^n, n \\ge 1"],
  ["3", "3, k \\in \\mathbb{Z}"],
  ["(C)", "\\text{(D) }12"],
  ["(C)", "(C)+1"],
  ["(C)", "\\text{(C)} \\approx 1.2345"],
  ["(C)", "\\text{(C) }\\text{(D)}"],
  ["(C)", "\\text{(C) is wrong}"],
  ["\\text{(C) }12", "\\text{(C) }13"],
  ["\\text{(C) }12", "\\text{(B) }12"],
  ["C", "(C) 12"],
])("%j refuses %j", async (gold, answer) => expect(await accepts(gold, answer)).toBe(false));
