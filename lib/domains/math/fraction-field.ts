import type { Polynomial, PolynomialRing } from "./polynomial.ts";
import * as q from "./rational.ts";

/**
 * num/den. A denominator is 1 or has several terms: a denominator of a single term becomes negative exponents
 * in num.
 */
export interface Fraction {
  readonly num: Polynomial;
  readonly den: Polynomial;
}

/** Quotients of the polynomials of a ring. */
export class FractionField {
  readonly ring: PolynomialRing;

  constructor(ring: PolynomialRing) {
    this.ring = ring;
  }

  /** Throws Undefined where den is zero. */
  of(num: Polynomial, den: Polynomial = this.ring.one): Fraction {
    const { ring } = this;
    const divisor = ring.single(den);
    if (divisor === undefined) {
      if (den.size === 0) throw new q.Undefined("division by zero");
      return { num, den };
    }
    if (den === ring.one) return { num, den };
    return { num: ring.multiply(num, ring.termPower(divisor, -1)), den: ring.one };
  }
  /** The value of a fraction that has denominator 1 and no atoms; otherwise undefined. */
  value(a: Fraction): q.Rational | undefined {
    return a.den === this.ring.one ? this.ring.value(a.num) : undefined;
  }

  sum(a: Fraction, b: Fraction): Fraction {
    const { ring } = this;
    if (a.den === b.den || ring.key(a.den) === ring.key(b.den))
      return { num: ring.add(a.num, b.num), den: a.den };
    const num = ring.add(ring.multiply(a.num, b.den), ring.multiply(b.num, a.den));
    return { num, den: ring.multiply(a.den, b.den) };
  }
  product(a: Fraction, b: Fraction): Fraction {
    return this.of(this.ring.multiply(a.num, b.num), this.ring.multiply(a.den, b.den));
  }
  inverse(a: Fraction): Fraction {
    return this.of(a.den, a.num);
  }
  equal(a: Fraction, b: Fraction): boolean {
    const { ring } = this;
    const difference = ring.add(ring.multiply(a.num, b.den), ring.negate(ring.multiply(b.num, a.den)));
    return difference.size === 0;
  }

  /** A text for a fraction: unequal texts need not mean unequal values. */
  key(a: Fraction): string {
    const { ring } = this;
    if (a.den === ring.one) return ring.key(a.num);
    const lead = [...a.den.entries()].sort(([x], [y]) => (x < y ? -1 : 1))[0]![1].coefficient;
    const by = q.divide(q.ONE, lead);
    return `(${ring.key(ring.scale(a.num, by))})/(${ring.key(ring.scale(a.den, by))})`;
  }
}
