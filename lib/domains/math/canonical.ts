import type { Fraction, FractionField } from "./fraction-field.ts";
import { combinatorial } from "./integer-functions.ts";
import type { PolynomialRing } from "./polynomial.ts";
import type { Rational } from "./rational.ts";
import * as q from "./rational.ts";
import { type Expr, fingerprint, substitute, whole } from "./syntax.ts";

/** Thrown for an expression that has no form in exact arithmetic: a matrix, infinity. */
export class NoCanonicalForm extends Error {}

/** Sums are multiplied out up to this power; beyond it the sum becomes an atom. */
const MAX_EXPANDED_POWER = 24;
const MAX_SERIES_TERMS = 200n;

/**
 * The expression as a quotient of polynomials over the ring's atoms. Equal results are equal values wherever both
 * are defined; the converse holds when the ring's atoms are independent.
 * Throws Undefined, BudgetExceeded or NoCanonicalForm.
 */
export function canonical(e: Expr, field: FractionField): Fraction {
  switch (e.kind) {
    case "number":
      return field.of(field.ring.constant(e.value));
    case "percent":
      return field.product(canonical(e.of, field), field.of(field.ring.constant({ n: 1n, d: 100n })));
    case "symbol":
      return field.of(field.ring.atom(`'${e.name}`, 1, true));
    case "constant":
      return constantForm(e.name, field);
    case "sum":
      return e.terms.map((t) => canonical(t, field)).reduce((a, b) => field.sum(a, b));
    case "product":
      return e.factors.map((f) => canonical(f, field)).reduce((a, b) => field.product(a, b));
    case "power":
      return raise(canonical(e.base, field), canonical(e.exponent, field), field);
    case "call":
      return callForm(e.name, e.args, field);
    case "bound":
      return seriesForm(e, field);
    case "matrix":
      throw new NoCanonicalForm("matrix");
  }
}

/** Writes out sums and products over a few integers; any other bound expression becomes an atom. */
function seriesForm(e: Extract<Expr, { kind: "bound" }>, field: FractionField): Fraction {
  const [from, to] = [e.from, e.to].map((end) => end && integerValue(canonical(end, field), field));
  if (from === undefined || to === undefined || e.operator === "integral" || to - from >= MAX_SERIES_TERMS) {
    return field.of(field.ring.atom(fingerprint(e)));
  }
  const add = e.operator === "sum";
  let total = field.of(add ? field.ring.zero : field.ring.one);
  for (let k = from; k <= to; k++) {
    field.ring.spend(20);
    const term = canonical(substitute(e.body, e.variable, whole(k)), field);
    total = add ? field.sum(total, term) : field.product(total, term);
  }
  return total;
}

function integerValue(form: Fraction, field: FractionField): bigint | undefined {
  const value = field.value(form);
  return value && q.isInteger(value) ? value.n : undefined;
}

function constantForm(name: string, field: FractionField): Fraction {
  if (name === "infinity") throw new NoCanonicalForm("infinity");
  if (name === "i") return field.of(field.ring.root(-1n, 2, 1));
  if (name === "e") return field.of(field.ring.atom("e^1", 1, true));
  return field.of(field.ring.atom(name, 1, true));
}

function raise(base: Fraction, exponent: Fraction, field: FractionField): Fraction {
  const constant = field.value(exponent);
  if (constant === undefined) return symbolicPower(base, exponent, field);
  if (q.isInteger(constant)) return integerPower(base, Number(constant.n), field);
  if (constant.d > 1000n) return opaquePower(base, exponent, field);
  const value = field.value(base);
  if (value !== undefined) return rationalRoot(value, constant, field);
  const atom = field.ring.atom(`(${field.key(base)})^(1/${constant.d})`, Number(constant.n));
  return field.of(atom);
}

function integerPower(base: Fraction, exponent: number, field: FractionField): Fraction {
  if (exponent < 0) return integerPower(field.inverse(base), -exponent, field);
  if (exponent === 0) return field.of(field.ring.one);
  const single = base.den === field.ring.one ? field.ring.single(base.num) : undefined;
  if (single !== undefined) return field.of(field.ring.termPower(single, exponent));
  if (base.num.size === 0) return base;
  if (exponent > MAX_EXPANDED_POWER) return field.of(field.ring.atom(`(${field.key(base)})`, exponent));
  let result = base;
  for (let k = 1; k < exponent; k++) result = field.product(result, base);
  return result;
}

/** Rewrites r^(p/q), r rational and p/q no integer, as roots of r's prime factors without perfect powers under them. */
function rationalRoot(value: Rational, exponent: Rational, field: FractionField): Fraction {
  if (value.n === 0n) {
    if (exponent.n < 0n) throw new q.Undefined("division by zero");
    return field.of(field.ring.zero);
  }
  const degree = Number(exponent.d);
  const times = Number(exponent.n);
  let result = field.ring.one;
  if (value.n < 0n) result = field.ring.root(-1n, degree, times);
  const magnitude = value.n < 0n ? -value.n : value.n;
  for (const [part, sign] of [
    [magnitude, 1],
    [value.d, -1],
  ] as const) {
    for (const [prime, k] of factored(part, field.ring))
      result = field.ring.multiply(result, primeRoot(prime, k * sign * times, degree, field.ring));
  }
  return field.of(result);
}

function primeRoot(prime: bigint, numerator: number, denominator: number, ring: PolynomialRing) {
  const g = Number(q.gcd(BigInt(numerator), BigInt(denominator)));
  if (g === denominator) return ring.constant(q.power(q.integer(prime), numerator / g));
  return ring.root(prime, denominator / g, numerator / g);
}

/** b^(c1 m1 + c2 m2 + ...) = product of (b^(m/v))^u for c = u/v; factors a positive rational base into primes. */
function symbolicPower(base: Fraction, exponent: Fraction, field: FractionField): Fraction {
  if (exponent.den !== field.ring.one) return opaquePower(base, exponent, field);
  let result = field.of(field.ring.one);
  for (const term of exponent.num.values()) {
    const constant = term.powers.length === 0;
    const part: Fraction = constant
      ? raise(base, field.of(field.ring.constant(term.coefficient)), field)
      : monomialPower(base, term.coefficient, term.powers.join("*"), field);
    result = field.product(result, part);
  }
  return result;
}

function monomialPower(base: Fraction, by: Rational, monomial: string, field: FractionField): Fraction {
  const exponentName = `${monomial}/${by.d}`;
  const times = Number(by.n);
  const value = field.value(base);
  if (value === undefined || value.n === 0n) {
    return field.of(field.ring.atom(`(${field.key(base)})^${exponentName}`, times));
  }
  let result = field.ring.one;
  if (value.n < 0n) result = field.ring.atom(`-1^${exponentName}`, times);
  for (const [part, sign] of [
    [value.n < 0n ? -value.n : value.n, 1],
    [value.d, -1],
  ] as const) {
    for (const [prime, k] of factored(part, field.ring)) {
      result = field.ring.multiply(result, field.ring.atom(`${prime}^${exponentName}`, k * sign * times));
    }
  }
  return field.of(result);
}

function opaquePower(base: Fraction, exponent: Fraction, field: FractionField): Fraction {
  return field.of(field.ring.atom(`(${field.key(base)})^(${field.key(exponent)})`));
}

function callForm(name: string, args: readonly Expr[], field: FractionField): Fraction {
  const forms = args.map((arg) => canonical(arg, field));
  const values = forms.map((f) => field.value(f));
  if (values.every((v) => v !== undefined)) {
    const known = values as Rational[];
    if (name === "ln") return logarithmForm(known[0]!, field);
    field.ring.spend(
      10 *
        Math.min(
          1000,
          known.reduce((most, v) => Math.max(most, Math.abs(Number(v.n))), 0),
        ),
    );
    const value = combinatorial(name, known);
    if (value !== undefined) return field.of(field.ring.constant(value));
  }
  return field.of(field.ring.atom(`${name}(${forms.map((f) => field.key(f)).join(";")})`));
}

function logarithmForm(value: Rational, field: FractionField): Fraction {
  if (value.n === 0n) throw new q.Undefined("logarithm of zero");
  if (value.n < 0n) return field.of(field.ring.atom(`ln(${q.toText(value)})`));
  let result = field.ring.zero;
  for (const [part, sign] of [
    [value.n, 1],
    [value.d, -1],
  ] as const) {
    for (const [prime, k] of factored(part, field.ring)) {
      const logarithm = field.ring.atom(`ln ${prime}`);
      result = field.ring.add(result, field.ring.scale(logarithm, q.integer(k * sign)));
    }
  }
  return field.of(result);
}

/** The cost of trial division grows with the length of the number. */
function factored(n: bigint, ring: PolynomialRing): ReadonlyMap<bigint, number> {
  ring.spend(n < 1_000_000n ? 20 : 300 + q.bitLength(n));
  return q.factor(n);
}
