import { combinatorial } from "./integer-functions.ts";
import type { Fraction, PolynomialRing } from "./polynomial.ts";
import type { Rational } from "./rational.ts";
import * as q from "./rational.ts";
import { type Expr, fingerprint, substitute, whole } from "./syntax.ts";

/** An expression the exact arithmetic has no form for: a matrix, infinity. */
export class NoCanonicalForm extends Error {}

/** Sums are multiplied out up to this power; beyond it the sum becomes an atom. */
const MAX_EXPANDED_POWER = 24;
const MAX_SERIES_TERMS = 200n;

/**
 * The expression as a quotient of polynomials over the ring's atoms. Equal results are equal values wherever both
 * are defined; the converse holds when the ring's atoms are independent.
 * Throws Undefined, BudgetExceeded or NoCanonicalForm.
 */
export function canonical(e: Expr, ring: PolynomialRing): Fraction {
  switch (e.kind) {
    case "number":
      return ring.fraction(ring.constant(e.value));
    case "percent":
      return ring.product(canonical(e.of, ring), ring.fraction(ring.constant({ n: 1n, d: 100n })));
    case "symbol":
      return ring.fraction(ring.atom(`'${e.name}`, 1, true));
    case "constant":
      return constantForm(e.name, ring);
    case "sum":
      return e.terms.map((t) => canonical(t, ring)).reduce((a, b) => ring.sum(a, b));
    case "product":
      return e.factors.map((f) => canonical(f, ring)).reduce((a, b) => ring.product(a, b));
    case "power":
      return raise(canonical(e.base, ring), canonical(e.exponent, ring), ring);
    case "call":
      return callForm(e.name, e.args, ring);
    case "bound":
      return seriesForm(e, ring);
    case "matrix":
      throw new NoCanonicalForm("matrix");
  }
}

/** Sums and products over a few integers are written out; anything else bound is an atom. */
function seriesForm(e: Extract<Expr, { kind: "bound" }>, ring: PolynomialRing): Fraction {
  const [from, to] = [e.from, e.to].map((end) => end && integerValue(canonical(end, ring), ring));
  if (from === undefined || to === undefined || e.operator === "integral" || to - from >= MAX_SERIES_TERMS) {
    return ring.fraction(ring.atom(fingerprint(e)));
  }
  const add = e.operator === "sum";
  let total = ring.fraction(add ? ring.zero : ring.one);
  for (let k = from; k <= to; k++) {
    ring.spend(20);
    const term = canonical(substitute(e.body, e.variable, whole(k)), ring);
    total = add ? ring.sum(total, term) : ring.product(total, term);
  }
  return total;
}

function integerValue(form: Fraction, ring: PolynomialRing): bigint | undefined {
  const value = form.den === ring.one ? ring.value(form.num) : undefined;
  return value && q.isInteger(value) ? value.n : undefined;
}

function constantForm(name: string, ring: PolynomialRing): Fraction {
  if (name === "infinity") throw new NoCanonicalForm("infinity");
  if (name === "i") return ring.fraction(ring.root(-1n, 2, 1));
  if (name === "e") return ring.fraction(ring.atom("e^1", 1, true));
  return ring.fraction(ring.atom(name, 1, true));
}

function raise(base: Fraction, exponent: Fraction, ring: PolynomialRing): Fraction {
  const constant = exponent.den === ring.one ? ring.value(exponent.num) : undefined;
  if (constant === undefined) return symbolicPower(base, exponent, ring);
  if (q.isInteger(constant)) return integerPower(base, Number(constant.n), ring);
  if (constant.d > 1000n) return opaquePower(base, exponent, ring);
  const value = base.den === ring.one ? ring.value(base.num) : undefined;
  if (value !== undefined) return rationalRoot(value, constant, ring);
  const atom = ring.atom(`(${ring.fractionKey(base)})^(1/${constant.d})`, Number(constant.n));
  return ring.fraction(atom);
}

function integerPower(base: Fraction, exponent: number, ring: PolynomialRing): Fraction {
  if (exponent < 0) return integerPower(ring.inverse(base), -exponent, ring);
  if (exponent === 0) return ring.fraction(ring.one);
  const single = base.den === ring.one ? ring.single(base.num) : undefined;
  if (single !== undefined) return ring.fraction(ring.termPower(single, exponent));
  if (base.num.size === 0) return base;
  if (exponent > MAX_EXPANDED_POWER) return ring.fraction(ring.atom(`(${ring.fractionKey(base)})`, exponent));
  let result = base;
  for (let k = 1; k < exponent; k++) result = ring.product(result, base);
  return result;
}

/** A rational to a rational power that is no integer: square-free roots of its factors. */
function rationalRoot(value: Rational, exponent: Rational, ring: PolynomialRing): Fraction {
  if (value.n === 0n) {
    if (exponent.n < 0n) throw new q.Undefined("division by zero");
    return ring.fraction(ring.zero);
  }
  const degree = Number(exponent.d);
  const times = Number(exponent.n);
  let result = ring.one;
  if (value.n < 0n) result = ring.root(-1n, degree, times);
  const magnitude = value.n < 0n ? -value.n : value.n;
  for (const [part, sign] of [
    [magnitude, 1],
    [value.d, -1],
  ] as const) {
    for (const [prime, k] of factored(part, ring))
      result = ring.multiply(result, primeRoot(prime, k * sign * times, degree, ring));
  }
  return ring.fraction(result);
}

function primeRoot(prime: bigint, numerator: number, denominator: number, ring: PolynomialRing) {
  const g = Number(q.gcd(BigInt(numerator), BigInt(denominator)));
  if (g === denominator) return ring.constant(q.power(q.integer(prime), numerator / g));
  return ring.root(prime, denominator / g, numerator / g);
}

/** b^(c1 m1 + c2 m2 + ...) = product of (b^(m/v))^u for c = u/v; a positive rational base splits into primes. */
function symbolicPower(base: Fraction, exponent: Fraction, ring: PolynomialRing): Fraction {
  if (exponent.den !== ring.one) return opaquePower(base, exponent, ring);
  let result = ring.fraction(ring.one);
  for (const term of exponent.num.values()) {
    const constant = term.powers.length === 0;
    const part: Fraction = constant
      ? raise(base, ring.fraction(ring.constant(term.coefficient)), ring)
      : monomialPower(base, term.coefficient, term.powers.join("*"), ring);
    result = ring.product(result, part);
  }
  return result;
}

function monomialPower(base: Fraction, by: Rational, monomial: string, ring: PolynomialRing): Fraction {
  const exponentName = `${monomial}/${by.d}`;
  const times = Number(by.n);
  const value = base.den === ring.one ? ring.value(base.num) : undefined;
  if (value === undefined || value.n === 0n) {
    return ring.fraction(ring.atom(`(${ring.fractionKey(base)})^${exponentName}`, times));
  }
  let result = ring.one;
  if (value.n < 0n) result = ring.atom(`-1^${exponentName}`, times);
  for (const [part, sign] of [
    [value.n < 0n ? -value.n : value.n, 1],
    [value.d, -1],
  ] as const) {
    for (const [prime, k] of factored(part, ring)) {
      result = ring.multiply(result, ring.atom(`${prime}^${exponentName}`, k * sign * times));
    }
  }
  return ring.fraction(result);
}

function opaquePower(base: Fraction, exponent: Fraction, ring: PolynomialRing): Fraction {
  return ring.fraction(ring.atom(`(${ring.fractionKey(base)})^(${ring.fractionKey(exponent)})`));
}

function callForm(name: string, args: readonly Expr[], ring: PolynomialRing): Fraction {
  const forms = args.map((arg) => canonical(arg, ring));
  const values = forms.map((f) => (f.den === ring.one ? ring.value(f.num) : undefined));
  if (values.every((v) => v !== undefined)) {
    const known = values as Rational[];
    if (name === "ln") return logarithmForm(known[0]!, ring);
    ring.spend(
      10 *
        Math.min(
          1000,
          known.reduce((most, v) => Math.max(most, Math.abs(Number(v.n))), 0),
        ),
    );
    const value = combinatorial(name, known);
    if (value !== undefined) return ring.fraction(ring.constant(value));
  }
  return ring.fraction(ring.atom(`${name}(${forms.map((f) => ring.fractionKey(f)).join(";")})`));
}

function logarithmForm(value: Rational, ring: PolynomialRing): Fraction {
  if (value.n === 0n) throw new q.Undefined("logarithm of zero");
  if (value.n < 0n) return ring.fraction(ring.atom(`ln(${q.toText(value)})`));
  let result = ring.zero;
  for (const [part, sign] of [
    [value.n, 1],
    [value.d, -1],
  ] as const) {
    for (const [prime, k] of factored(part, ring)) {
      const logarithm = ring.atom(`ln ${prime}`);
      result = ring.add(result, ring.scale(logarithm, q.integer(k * sign)));
    }
  }
  return ring.fraction(result);
}

/** Trial division costs as much as the number is long. */
function factored(n: bigint, ring: PolynomialRing): ReadonlyMap<bigint, number> {
  ring.spend(n < 1_000_000n ? 20 : 300 + q.bitLength(n));
  return q.factor(n);
}
