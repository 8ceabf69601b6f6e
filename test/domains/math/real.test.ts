import fc from "fast-check";
import { expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { BudgetExceeded, rational, Undefined } from "../../../lib/domains/math/rational.ts";
import { NIL, type Real, RealArithmetic, top } from "../../../lib/domains/math/real.ts";

// Deliberate faults (mutants) that these tests detect: a quotient has no extra bits, a root of a mantissa has an odd
// exponent.

const BITS = 256;
const r = new RealArithmetic(BITS, new Budget(1e12));
const fine = new RealArithmetic(3 * BITS, new Budget(1e12));

/** The decimal digits of a value, truncated. */
function digits(x: Real, places: number): string {
  const scaled = (x.m * 10n ** BigInt(places)) >> BigInt(-x.e);
  return `${scaled / 10n ** BigInt(places)}.${`${scaled % 10n ** BigInt(places)}`.padStart(places, "0")}`;
}
const ratio = (a: RealArithmetic, n: number, d: number) => a.fromRational(rational(BigInt(n), BigInt(d)));

test.each([
  [2n, "1.41421356237309504880168872420969807856967187537694"],
  [5n, "2.23606797749978969640917366873127623544061835961152"],
])("known digits of the square root of %d", (n, expected) => {
  expect(digits(r.sqrt(r.fromInteger(n)), 50)).toBe(expected);
});

/** Bits that a result may lose because its argument is rounded first. */
const LOST_BITS = 6;
const functions: Record<string, (a: RealArithmetic, x: Real) => Real> = {
  sqrt: (a, x) => a.sqrt(a.sign(x) < 0 ? a.negate(x) : x),
  "1/x": (a, x) => a.divide(a.fromInteger(1n), x),
};
test.each(Object.entries(functions))("%s is good to its last bits", (_, f) => {
  const argument = fc.integer({ min: -400_000, max: 400_000 }).filter((n) => n !== 0);
  fc.assert(
    fc.property(argument, fc.integer({ min: 1, max: 9999 }), (n, d) => {
      const [a, b] = [f(r, ratio(r, n, d)), f(fine, ratio(fine, n, d))];
      expect(top(fine.subtract(a, b))).toBeLessThanOrEqual(top(b) - BITS + LOST_BITS);
    }),
    { numRuns: 60 },
  );
});

test("the nearest integer and the rest add up", () => {
  for (const [n, d] of [
    [7, 2],
    [-7, 2],
    [1, 3],
    [-10, 3],
    [5, 1],
    [0, 1],
  ] as const) {
    const { integer, rest } = r.nearest(ratio(r, n, d));
    expect(Math.abs(Number(integer) - n / d)).toBeLessThanOrEqual(0.5);
    expect(top(r.subtract(r.add(r.fromInteger(integer), rest), ratio(r, n, d)))).toBeLessThan(-BITS / 2);
  }
});

test("a quotient by zero is undefined", () => {
  expect(() => r.divide(r.fromInteger(3n), NIL)).toThrow(Undefined);
});

test("work is charged", () => {
  const poor = new RealArithmetic(BITS, new Budget(100));
  expect(() => {
    for (let i = 0; i < 100; i++) poor.multiply({ m: 3n, e: 0 }, { m: 5n, e: 0 });
  }).toThrow(BudgetExceeded);
});
