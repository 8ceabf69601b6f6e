import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { type Fraction, FractionField } from "../../../lib/domains/math/fraction-field.ts";
import { type Polynomial, PolynomialRing } from "../../../lib/domains/math/polynomial.ts";
import * as q from "../../../lib/domains/math/rational.ts";

// Deliberate faults (mutants) that these tests detect: sum() ignores denominators, equal() compares only numerators,
// of() keeps a single-term denominator, key() is not divided by the leading coefficient.

const ring = new PolynomialRing(new Budget(1e12));
const field = new FractionField(ring);
const x = ring.atom("x", 1, true);
const y = ring.atom("y", 1, true);
const constant = (n: number) => ring.constant(q.integer(n));

/** Values of the atoms for which x, y and the denominators below are not 0. */
const POINT = [q.rational(1009n, 7n), q.rational(-2003n, 11n)] as const;

function valueAt(p: Polynomial): q.Rational {
  const terms = [...p.values()].map(({ coefficient, powers }) =>
    powers.reduce((product, [atom, k]) => q.multiply(product, q.power(POINT[atom]!, k)), coefficient),
  );
  return terms.reduce((a, b) => q.add(a, b), q.ZERO);
}
const quotientAt = ({ num, den }: Fraction) => q.divide(valueAt(num), valueAt(den));

/** a + b x + c y + d x y with small whole coefficients. */
const polynomial = fc.tuple(...Array.from({ length: 4 }, () => fc.integer({ min: -3, max: 3 }))).map((k) => {
  const parts = [ring.one, x, y, ring.multiply(x, y)].map((p, i) => ring.multiply(constant(k[i]!), p));
  return parts.reduce((a, b) => ring.add(a, b), ring.zero);
});
const fraction = fc
  .tuple(
    polynomial,
    polynomial.filter((p) => p.size > 0),
  )
  .map(([num, den]) => field.of(num, den));

describe("a fraction has the value that rational arithmetic gives at a point", () => {
  test.each([
    ["sum", q.add],
    ["product", q.multiply],
  ] as const)("of a %s", (name, expected) => {
    fc.assert(
      fc.property(fraction, fraction, (a, b) => {
        expect(quotientAt(field[name](a, b))).toEqual(expected(quotientAt(a), quotientAt(b)));
      }),
    );
  });

  test("of an inverse", () => {
    fc.assert(
      fc.property(
        fraction.filter(({ num }) => num.size > 0),
        (a) => {
          expect(quotientAt(field.inverse(a))).toEqual(q.divide(q.ONE, quotientAt(a)));
        },
      ),
    );
  });
});

test("quotients are equal when their cross products are", () => {
  fc.assert(
    fc.property(polynomial, polynomial, polynomial, (a, b, c) => {
      fc.pre(b.size > 0 && c.size > 0);
      const f = field.of(a, b);
      expect(field.equal(f, field.of(ring.multiply(a, c), ring.multiply(b, c)))).toBe(true);
      expect(field.equal(f, field.sum(f, field.of(ring.one)))).toBe(false);
      const twice = field.product(f, field.of(constant(2)));
      expect(field.equal(field.sum(f, f), twice)).toBe(true);
    }),
  );
});

test("a zero denominator is undefined, a single term becomes negative exponents", () => {
  expect(() => field.of(x, ring.zero)).toThrow(q.Undefined);
  const f = field.of(ring.one, ring.multiply(constant(2), x));
  expect([f.den === ring.one, ring.key(ring.multiply(f.num, x))]).toEqual([true, "1/2*"]);
});

test("only a fraction without atoms has a value", () => {
  expect(field.value(field.of(constant(6), constant(4)))).toEqual(q.rational(3n, 2n));
  expect(field.value(field.of(ring.zero))).toEqual(q.ZERO);
  expect(field.value(field.of(x))).toBeUndefined();
});

test("a common factor in every coefficient does not show in the key", () => {
  const below = ring.add(x, ring.one);
  const [once, thrice] = [
    field.of(y, below),
    field.of(ring.scale(y, q.integer(3)), ring.scale(below, q.integer(3))),
  ];
  expect(field.key(thrice)).toBe(field.key(once));
  expect(field.key(field.of(y, ring.add(x, constant(2))))).not.toBe(field.key(once));
});
