import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import {
  COMPLEX_ONE,
  COMPLEX_ZERO,
  type Complex,
  ComplexArithmetic,
  IMAGINARY_UNIT,
  isReal,
  isZero,
  magnitude,
  real,
} from "../../../lib/domains/math/complex.ts";
import { pi } from "../../../lib/domains/math/elementary.ts";
import { rational, Undefined } from "../../../lib/domains/math/rational.ts";
import { RealArithmetic } from "../../../lib/domains/math/real.ts";

// Deliberate faults (mutants) that these tests detect: inverse() forgets the conjugate, the sign of asin's logarithm.
// Not yet tried: acos as asin - pi/2.

const BITS = 200;
const r = new RealArithmetic(BITS, new Budget(1e12));
const c = new ComplexArithmetic(r);
const at = (x: number, y: number): Complex => ({
  re: r.fromRational(rational(BigInt(Math.round(x * 1024)), 1024n)),
  im: r.fromRational(rational(BigInt(Math.round(y * 1024)), 1024n)),
});
/** True if the two differ by at most the rounding of a few operations. */
const same = (a: Complex, b: Complex) => magnitude(c.subtract(a, b)) <= Math.max(magnitude(a), 0) - BITS + 16;

const POINTS = [at(0.5, 0.25), at(-1.5, 0.75), at(2, -3), at(-0.25, -0.5), at(0.75, 0)];

describe.each(POINTS.map((z, i) => [i, z] as const))("at point %d", (_, z) => {
  test("inverses undo", () => {
    expect(same(c.multiply(z, c.inverse(z)), COMPLEX_ONE)).toBe(true);
    expect(same(c.exp(c.ln(z)), z)).toBe(true);
    expect(same(c.multiply(c.sqrt(z), c.sqrt(z)), z)).toBe(true);
    expect(same(c.sin(c.asin(z)), z)).toBe(true);
    expect(same(c.cos(c.acos(z)), z)).toBe(true);
    expect(same(c.sinh(c.asinh(z)), z)).toBe(true);
    expect(same(c.cosh(c.acosh(z)), z)).toBe(true);
    const tan = c.divide(c.sin(c.atan(z)), c.cos(c.atan(z)));
    const tanh = c.divide(c.sinh(c.atanh(z)), c.cosh(c.atanh(z)));
    expect(same(tan, z)).toBe(true);
    expect(same(tanh, z)).toBe(true);
  });

  test("identities hold", () => {
    const one = c.add(c.multiply(c.sin(z), c.sin(z)), c.multiply(c.cos(z), c.cos(z)));
    expect(same(one, COMPLEX_ONE)).toBe(true);
    const turn = pi(r);
    expect(same(c.add(c.asin(z), c.acos(z)), real({ m: turn.m, e: turn.e - 1 }))).toBe(true);
    expect(same(c.power(z, at(3, 0)), c.multiply(z, c.multiply(z, z)))).toBe(true);
    expect(same(c.integerPower(z, -2n), c.inverse(c.multiply(z, z)))).toBe(true);
  });
});

test("roots of negative numbers are principal", () => {
  expect(same(c.sqrt(at(-4, 0)), at(0, 2))).toBe(true);
  const cubeRoot = c.power(at(-8, 0), real(r.fromRational(rational(1n, 3n))));
  expect(same(cubeRoot, { re: r.fromInteger(1n), im: r.sqrt(r.fromInteger(3n)) })).toBe(true);
});

test("real arguments with real results stay real", () => {
  for (const z of [
    c.sin(at(2, 0)),
    c.exp(at(2, 0)),
    c.sqrt(at(2, 0)),
    c.asin(at(0.5, 0)),
    c.atan(at(5, 0)),
  ]) {
    expect(isReal(z)).toBe(true);
  }
  expect(isReal(c.asin(at(2, 0)))).toBe(false);
});

test("zero to a negative power does not exist, to a positive one it is zero", () => {
  expect(isZero(c.power(COMPLEX_ZERO, at(0.5, 0)))).toBe(true);
  expect(() => c.power(COMPLEX_ZERO, at(-0.5, 0))).toThrow(Undefined);
  expect(() => c.integerPower(COMPLEX_ZERO, -1n)).toThrow(Undefined);
  expect(same(c.power(IMAGINARY_UNIT, at(2, 0)), at(-1, 0))).toBe(true);
});
