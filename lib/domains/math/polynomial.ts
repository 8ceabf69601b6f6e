import type { Budget } from "./budget.ts";
import type { Rational } from "./rational.ts";
import * as q from "./rational.ts";

/** Products of atoms: [atom, exponent], atoms ascending, exponents never 0, negative ones allowed. */
export type Powers = readonly (readonly [number, number])[];
export interface Term {
  readonly coefficient: Rational;
  readonly powers: Powers;
}
/** Monomial key -> term; a zero polynomial has none. */
export type Polynomial = ReadonlyMap<string, Term>;

const MAX_TERMS = 2000;
const MAX_EXPONENT = 1e6;

const keyOf = (powers: Powers): string => powers.map(([atom, exponent]) => `${atom}^${exponent}`).join("*");

/**
 * Exact arithmetic in polynomials over atoms: symbols, roots of integers, pi, and other subexpressions that stay
 * opaque. A root atom a with a^degree = radicand keeps its exponent in [0, degree), so equal polynomials in
 * independent atoms have equal terms. Charges work and size to the budget.
 */
export class PolynomialRing {
  readonly #ids = new Map<string, number>();
  readonly #radicands: ({ degree: number; radicand: Rational } | undefined)[] = [];
  readonly #budget: Budget;
  /** False once an atom may depend on other atoms: different forms may then be equal values. */
  independent = true;
  readonly zero: Polynomial = new Map();
  readonly one: Polynomial;

  constructor(budget: Budget) {
    this.#budget = budget;
    this.one = this.constant(q.ONE);
  }

  /** Charges the budget for work that callers do for the ring. */
  spend(steps: number): void {
    this.#budget.spend(steps);
  }

  #intern(name: string, radicand: { degree: number; radicand: Rational } | undefined): number {
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(name, id);
      this.#radicands.push(radicand);
    }
    return id;
  }

  constant(value: Rational): Polynomial {
    return value.n === 0n ? this.zero : new Map([["", { coefficient: value, powers: [] }]]);
  }
  /** A new atom; `independent` asserts that no polynomial in the other atoms can equal it. */
  atom(name: string, exponent = 1, independent = false): Polynomial {
    if (!independent) this.independent = false;
    return this.#monomial(q.ONE, [[this.#intern(name, undefined), exponent]]);
  }
  /** The degree-th root of an integer, to an exponent. Square roots of different primes are independent. */
  root(radicand: bigint, degree: number, exponent: number): Polynomial {
    if (degree !== 2 || radicand > 4_000_000n) this.independent = false;
    const name = `root${degree}:${radicand}`;
    const id = this.#intern(name, { degree, radicand: q.integer(radicand) });
    return this.#monomial(q.ONE, [[id, exponent]]);
  }

  #monomial(coefficient: Rational, powers: Powers): Polynomial {
    const term = this.#reduced(coefficient, powers);
    return new Map([[keyOf(term.powers), term]]);
  }

  #reduced(coefficient: Rational, powers: Powers): Term {
    let factor = coefficient;
    const kept: (readonly [number, number])[] = [];
    for (const [atom, exponent] of powers) {
      if (Math.abs(exponent) > MAX_EXPONENT) throw new q.BudgetExceeded("exponent too large");
      const rule = this.#radicands[atom];
      let left = exponent;
      if (rule) {
        const whole = Math.floor(exponent / rule.degree);
        left = exponent - whole * rule.degree;
        if (whole !== 0) factor = q.multiply(factor, q.power(rule.radicand, whole));
      }
      if (left !== 0) kept.push([atom, left]);
    }
    return { coefficient: factor, powers: kept };
  }

  add(a: Polynomial, b: Polynomial): Polynomial {
    const sum = new Map(a);
    for (const [key, term] of b) this.#accumulate(sum, key, term);
    return sum;
  }
  negate(a: Polynomial): Polynomial {
    return this.scale(a, q.MINUS_ONE);
  }
  scale(a: Polynomial, by: Rational): Polynomial {
    this.spend(6 * a.size + coefficientCost(by));
    return new Map([...a].map(([k, t]) => [k, { ...t, coefficient: q.multiply(t.coefficient, by) }]));
  }
  #accumulate(into: Map<string, Term>, key: string, term: Term): void {
    this.#budget.spend(4);
    const present = into.get(key);
    if (present === undefined) {
      if (into.size >= MAX_TERMS) throw new q.BudgetExceeded("too many terms");
      into.set(key, term);
      return;
    }
    const coefficient = q.add(present.coefficient, term.coefficient);
    if (coefficient.n === 0n) into.delete(key);
    else into.set(key, { coefficient, powers: present.powers });
  }

  multiply(a: Polynomial, b: Polynomial): Polynomial {
    if (a === this.one) return b;
    if (b === this.one) return a;
    const product = new Map<string, Term>();
    for (const x of a.values()) {
      for (const y of b.values()) {
        this.spend(10 + coefficientCost(x.coefficient) + coefficientCost(y.coefficient));
        const coefficient = q.multiply(x.coefficient, y.coefficient);
        const term = this.#reduced(coefficient, merged(x.powers, y.powers));
        this.#accumulate(product, keyOf(term.powers), term);
      }
    }
    return product;
  }

  /** The single term of a monomial; undefined for a sum or zero. */
  single(a: Polynomial): Term | undefined {
    return a.size === 1 ? [...a.values()][0] : undefined;
  }
  /** The value of a polynomial without atoms. */
  value(a: Polynomial): Rational | undefined {
    if (a.size === 0) return q.ZERO;
    const term = this.single(a);
    return term?.powers.length === 0 ? term.coefficient : undefined;
  }

  /** Power of a single term to any integer. */
  termPower(term: Term, exponent: number): Polynomial {
    this.spend(10 + coefficientCost(term.coefficient));
    const powers = term.powers.map(([atom, k]) => [atom, k * exponent] as const);
    return this.#monomial(q.power(term.coefficient, exponent), powers);
  }

  /** A text equal for equal polynomials of this ring. */
  key(a: Polynomial): string {
    this.spend(8 * a.size);
    return [...a.entries()]
      .map(([key, term]) => `${q.toText(term.coefficient)}*${key}`)
      .sort()
      .join("+");
  }
}

/** Reducing a product of fractions takes time quadratic in the digits. */
const coefficientCost = (r: Rational): number =>
  r.n < SMALL && r.n > -SMALL && r.d < SMALL ? 2 : (q.bitLength(r.n) + q.bitLength(r.d)) ** 2 / 16_000;
const SMALL = 1n << 64n;

function merged(a: Powers, b: Powers): Powers {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const out: (readonly [number, number])[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const x = a[i];
    const y = b[j];
    if (y === undefined || (x !== undefined && x[0] < y[0])) {
      out.push(x!);
      i++;
    } else if (x === undefined || y[0] < x[0]) {
      out.push(y);
      j++;
    } else {
      if (x[1] + y[1] !== 0) out.push([x[0], x[1] + y[1]]);
      i++;
      j++;
    }
  }
  return out;
}
