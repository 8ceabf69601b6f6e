import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { type Polynomial, PolynomialRing } from "../../../lib/domains/math/polynomial.ts";
import * as q from "../../../lib/domains/math/rational.ts";

// Deliberate faults (mutants) that these tests detect: exponents of roots are not reduced, merge drops equal atoms.

const ring = new PolynomialRing(new Budget(1e12));
const x = ring.atom("x", 1, true);
const y = ring.atom("y", 1, true);
const constant = (n: number) => ring.constant(q.integer(n));

/** A random polynomial in x, y and the square root of 2, given by the coefficients of its monomials. */
const polynomial = fc
  .array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.nat(3), fc.nat(3), fc.nat(3)), { maxLength: 5 })
  .map((terms) =>
    terms
      .map(([c, i, j, k]): Polynomial => {
        if (c === 0) return ring.zero;
        const power = (p: Polynomial, n: number) => ring.termPower(ring.single(p)!, n);
        return [power(x, i), power(y, j), power(ring.root(2n, 2, 1), k)].reduce(
          (a, b) => ring.multiply(a, b),
          constant(c),
        );
      })
      .reduce((a, b) => ring.add(a, b), ring.zero),
  );

test("polynomials form a ring", () => {
  fc.assert(
    fc.property(polynomial, polynomial, polynomial, (a, b, c) => {
      expect(ring.key(ring.multiply(a, b))).toBe(ring.key(ring.multiply(b, a)));
      const left = ring.multiply(a, ring.add(b, c));
      expect(ring.key(left)).toBe(ring.key(ring.add(ring.multiply(a, b), ring.multiply(a, c))));
      expect(ring.add(a, ring.negate(a)).size).toBe(0);
    }),
  );
});

describe("roots", () => {
  test("keep exponents below their degree", () => {
    expect(ring.value(ring.multiply(ring.root(2n, 2, 1), ring.root(2n, 2, 1)))).toEqual(q.integer(2));
    expect(ring.value(ring.root(5n, 3, -3))).toEqual(q.rational(1n, 5n));
    expect(ring.value(ring.multiply(ring.root(-1n, 2, 1), ring.root(-1n, 2, 1)))).toEqual(q.integer(-1));
  });

  test("of degree two of small numbers are independent, others are not known to be", () => {
    const fresh = () => new PolynomialRing(new Budget());
    const provable = (use: (r: PolynomialRing) => unknown) => {
      const r = fresh();
      use(r);
      return r.independent;
    };
    expect(provable((r) => r.root(7n, 2, 1))).toBe(true);
    expect(provable((r) => r.root(7n, 3, 1))).toBe(false);
    expect(provable((r) => r.root(10n ** 12n + 39n, 2, 1))).toBe(false);
    expect(provable((r) => r.atom("sin(x)"))).toBe(false);
  });
});

test("size and work are bounded", () => {
  const poor = new PolynomialRing(new Budget(2000));
  const sum = ["a", "b", "c", "d", "f"].map((n) => poor.atom(n, 1, true)).reduce((a, b) => poor.add(a, b));
  expect(() => {
    let p = sum;
    for (let i = 0; i < 30; i++) p = poor.multiply(p, sum);
  }).toThrow(q.BudgetExceeded);
  expect(() => ring.atom("x", 1e9)).toThrow(q.BudgetExceeded);
});
