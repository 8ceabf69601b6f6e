import { expect, test } from "vitest";
import { separationBits } from "../../../lib/domains/math/separation.ts";
import { expression } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: the degree is not multiplied, a root's degree is dropped,
// roots ignore their denominators, negative exponents are not swapped, above or below.

const bits = (text: string) => separationBits(expression(text), () => 4);

/** |E| as -log2, for differences small enough to test the bound but large enough for doubles. */
test.each([
  ["1-\\frac{1}{1000003}\\cdot 1000002", -Math.log2(1 - 1000002 / 1000003)],
  ["\\sqrt{1000001}-1000", -Math.log2(Math.sqrt(1000001) - 1000)],
  ["\\sqrt{2}+\\sqrt{3}-\\sqrt{5}", -Math.log2(Math.SQRT2 + Math.sqrt(3) - Math.sqrt(5))],
  ["\\sqrt[3]{28}-3", -Math.log2(Math.cbrt(28) - 3)],
  ["10^{-9}", 9 * Math.log2(10)],
  ["2^{-99}", 99],
])("a number that is not zero, %s, is larger than its bound", (text, size) =>
  expect(bits(text)).toBeGreaterThanOrEqual(size - 1e-6),
);

/** (degree - 1) above + below, worked out by hand from the paper's rules. */
test.each([
  ["2", 0],
  ["2^{-99}", 99 * 2],
  ["\\sqrt{\\frac{6}{5}}", (3 + 3) / 2 + 3],
  ["\\sqrt[3]{\\frac{3}{5}}", 2 * 2 + (2 * 2 + 3) / 3],
  ["(\\sqrt{2})^{-4}", 4],
  ["\\sqrt{2}+\\sqrt{3}", 3 * 2],
])("the bound of %s", (text, expected) => expect(bits(text)).toBeCloseTo(expected, 9));

test("bounds are finite for constants, infinite for what has none", () => {
  expect(bits("\\pi+e^{\\sqrt{2}}\\sin 1+50\\%")).toBeLessThan(4000);
  expect(bits("x")).not.toBeLessThan(1e9);
});
