import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { BudgetExceeded, rational, Undefined } from "../../../lib/domains/math/rational.ts";
import { NIL, type Real, RealArithmetic, top } from "../../../lib/domains/math/real.ts";

// Mutants tried: pi from a wrong arctangent, ln with one Newton step less, circle without the quadrant turn,
// exp without the halvings' guard bits: each fails the doubled-precision or the known-digits test.

const BITS = 256;
const r = new RealArithmetic(BITS, new Budget(1e12));
const fine = new RealArithmetic(3 * BITS, new Budget(1e12));

/** Decimal digits of a value, truncated. */
function digits(x: Real, places: number): string {
  const scaled = (x.m * 10n ** BigInt(places)) >> BigInt(-x.e);
  return `${scaled / 10n ** BigInt(places)}.${`${scaled % 10n ** BigInt(places)}`.padStart(places, "0")}`;
}
const ratio = (a: RealArithmetic, n: number, d: number) => a.fromRational(rational(BigInt(n), BigInt(d)));

describe("known digits", () => {
  const one = r.fromInteger(1n);
  test.each([
    ["pi", r.pi(), "3.14159265358979323846264338327950288419716939937510"],
    ["e", r.exp(one), "2.71828182845904523536028747135266249775724709369995"],
    ["ln 2", r.ln(r.fromInteger(2n)), "0.69314718055994530941723212145817656807550013436025"],
    ["sqrt 2", r.sqrt(r.fromInteger(2n)), "1.41421356237309504880168872420969807856967187537694"],
    ["sin 1", r.circle(one)[1], "0.84147098480789650665250232163029899962256306079837"],
    ["cos 1", r.circle(one)[0], "0.54030230586813971740093660744297660373231042061792"],
    ["atan 1/2", r.angle(one, r.fromInteger(2n)), "0.46364760900080611621425623146121440202853705428612"],
  ])("of %s", (_, x, expected) => expect(digits(x, 50)).toBe(expected));
});

/** Arguments up to 2^19 are rounded before the function sees them: exp and sine lose as many bits, and a few. */
const LOST_BITS = 26;
const functions: Record<string, (a: RealArithmetic, x: Real) => Real> = {
  exp: (a, x) => a.exp(x),
  ln: (a, x) => a.ln(a.add(a.multiply(x, x), ratio(a, 1, 7))),
  sqrt: (a, x) => a.sqrt(a.multiply(x, x)),
  sin: (a, x) => a.circle(x)[1],
  cos: (a, x) => a.circle(x)[0],
  angle: (a, x) => a.angle(x, a.subtract(a.multiply(x, x), ratio(a, 1, 3))),
  "1/x": (a, x) => a.divide(a.fromInteger(1n), x),
};
test.each(Object.entries(functions))("%s is good to its last bits", (_, f) => {
  const argument = fc.integer({ min: -400_000, max: 400_000 }).filter((n) => n !== 0);
  fc.assert(
    fc.property(argument, fc.integer({ min: 1, max: 9999 }), (n, d) => {
      const [a, b] = [f(r, ratio(r, n, d)), f(fine, ratio(fine, n, d))];
      // A sine near a multiple of pi loses what its argument's own rounding loses.
      expect(top(fine.subtract(a, b))).toBeLessThanOrEqual(Math.max(top(b), 10) - BITS + LOST_BITS);
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

test("values that do not exist are undefined", () => {
  expect(() => r.divide(r.pi(), NIL)).toThrow(Undefined);
  expect(() => r.ln(NIL)).toThrow(Undefined);
  expect(() => r.angle(NIL, NIL)).toThrow(Undefined);
  expect(() => r.exp({ m: 1n, e: 50 })).toThrow(Undefined);
  expect(() => r.circle({ m: 1n, e: 600 })).toThrow(Undefined);
});

test("work is charged", () => {
  const poor = new RealArithmetic(BITS, new Budget(100));
  expect(() => {
    for (let i = 0; i < 100; i++) poor.multiply({ m: 3n, e: 0 }, { m: 5n, e: 0 });
  }).toThrow(BudgetExceeded);
});
