import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { angle, circle, exp, ln, pi } from "../../../lib/domains/math/elementary.ts";
import { BudgetExceeded, rational, Undefined } from "../../../lib/domains/math/rational.ts";
import { NIL, type Real, RealArithmetic, top } from "../../../lib/domains/math/real.ts";

// Deliberate faults (mutants) that these tests detect: pi from a wrong arctangent, ln with one Newton step less,
// circle without the quadrant turn, exp without the guard bits for halvings. Each fails the doubled-precision or the
// known-digits test.

const BITS = 256;
const r = new RealArithmetic(BITS, new Budget(1e12));
const fine = new RealArithmetic(3 * BITS, new Budget(1e12));

/** The decimal digits of a value, truncated. */
function digits(x: Real, places: number): string {
  const scaled = (x.m * 10n ** BigInt(places)) >> BigInt(-x.e);
  return `${scaled / 10n ** BigInt(places)}.${`${scaled % 10n ** BigInt(places)}`.padStart(places, "0")}`;
}
const ratio = (a: RealArithmetic, n: number, d: number) => a.fromRational(rational(BigInt(n), BigInt(d)));

describe("known digits", () => {
  const one = r.fromInteger(1n);
  test.each([
    ["pi", pi(r), "3.14159265358979323846264338327950288419716939937510"],
    ["e", exp(r, one), "2.71828182845904523536028747135266249775724709369995"],
    ["ln 2", ln(r, r.fromInteger(2n)), "0.69314718055994530941723212145817656807550013436025"],
    ["sin 1", circle(r, one)[1], "0.84147098480789650665250232163029899962256306079837"],
    ["cos 1", circle(r, one)[0], "0.54030230586813971740093660744297660373231042061792"],
    ["atan 1/2", angle(r, one, r.fromInteger(2n)), "0.46364760900080611621425623146121440202853705428612"],
  ])("of %s", (_, x, expected) => expect(digits(x, 50)).toBe(expected));
});

/** Arguments up to 2^19 are rounded before the function sees them, so exp and sine lose as many bits and a few more. */
const LOST_BITS = 26;
const functions: Record<string, (a: RealArithmetic, x: Real) => Real> = {
  exp: (a, x) => exp(a, x),
  ln: (a, x) => ln(a, a.add(a.multiply(x, x), ratio(a, 1, 7))),
  sin: (a, x) => circle(a, x)[1],
  cos: (a, x) => circle(a, x)[0],
  angle: (a, x) => angle(a, x, a.subtract(a.multiply(x, x), ratio(a, 1, 3))),
};
test.each(Object.entries(functions))("%s is good to its last bits", (_, f) => {
  const argument = fc.integer({ min: -400_000, max: 400_000 }).filter((n) => n !== 0);
  fc.assert(
    fc.property(argument, fc.integer({ min: 1, max: 9999 }), (n, d) => {
      const [a, b] = [f(r, ratio(r, n, d)), f(fine, ratio(fine, n, d))];
      // Near a multiple of pi a sine loses the bits that the rounding of its argument loses.
      expect(top(fine.subtract(a, b))).toBeLessThanOrEqual(Math.max(top(b), 10) - BITS + LOST_BITS);
    }),
    { numRuns: 60 },
  );
});

test("values that do not exist are undefined", () => {
  expect(() => ln(r, NIL)).toThrow(Undefined);
  expect(() => angle(r, NIL, NIL)).toThrow(Undefined);
  expect(() => exp(r, { m: 1n, e: 50 })).toThrow(Undefined);
  expect(() => circle(r, { m: 1n, e: 600 })).toThrow(Undefined);
});

test("a series is charged before it is computed", () => {
  expect(() => exp(new RealArithmetic(BITS, new Budget(BITS / 4)), NIL)).toThrow(BudgetExceeded);
});
