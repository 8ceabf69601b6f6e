import type { Budget } from "./budget.ts";
import { canonical, NoCanonicalForm } from "./canonical.ts";
import { type Complex, ComplexArithmetic, IMAGINARY_UNIT, isReal, magnitude, real } from "./complex.ts";
import { exp, pi } from "./elementary.ts";
import { FractionField } from "./fraction-field.ts";
import { combinatorial } from "./integer-functions.ts";
import { PolynomialRing } from "./polynomial.ts";
import { BudgetExceeded, integer, type Rational, rational, Undefined } from "./rational.ts";
import { type Real, RealArithmetic, top } from "./real.ts";
import { contains, type Expr, freeSymbols } from "./syntax.ts";

/** Values of the free symbols. */
export type Point = ReadonlyMap<string, Complex>;

/** A finite sum or product with more terms than this is not evaluated. */
const MAX_SERIES_TERMS = 400;
/** Bits of an argument that decide the value of an undefined function. */
const OPAQUE_BITS = 96;
/** floor and factorial treat a value within this many bits of an integer as the integer. */
const INTEGER_BITS = 100;
const APPROXIMATE_BITS = 128;

const UNARY: Readonly<Record<string, (c: ComplexArithmetic, z: Complex) => Complex>> = {
  ln: (c, z) => c.ln(z),
  abs: (c, z) => real(c.abs(z)),
  sin: (c, z) => c.sin(z),
  cos: (c, z) => c.cos(z),
  tan: (c, z) => c.divide(c.sin(z), c.cos(z)),
  cot: (c, z) => c.divide(c.cos(z), c.sin(z)),
  sec: (c, z) => c.inverse(c.cos(z)),
  csc: (c, z) => c.inverse(c.sin(z)),
  arcsin: (c, z) => c.asin(z),
  arccos: (c, z) => c.acos(z),
  arctan: (c, z) => c.atan(z),
  arccot: (c, z) => c.atan(c.inverse(z)),
  arcsec: (c, z) => c.acos(c.inverse(z)),
  arccsc: (c, z) => c.asin(c.inverse(z)),
  sinh: (c, z) => c.sinh(z),
  cosh: (c, z) => c.cosh(z),
  tanh: (c, z) => c.divide(c.sinh(z), c.cosh(z)),
  arcsinh: (c, z) => c.asinh(z),
  arccosh: (c, z) => c.acosh(z),
  arctanh: (c, z) => c.atanh(z),
};
const ROUNDING = new Set(["floor", "ceil", "mod"]);
const WHOLE_ARGUMENTS = new Set(["binomial", "gcd", "lcm"]);
const MAX_FACTORIAL = 20_000n;

/**
 * Value of an expression at a point, to the precision of the arithmetic. An undefined function, f(x), gets a
 * value that depends only on its name and arguments. Throws Undefined where the expression has no value
 * (a pole, infinity, a matrix, an integral), BudgetExceeded when it costs too much.
 */
export class Evaluator {
  readonly #complex: ComplexArithmetic;
  readonly #real: RealArithmetic;
  readonly #budget: Budget;
  #point: Point;
  /** Exponent of the largest intermediate value so far; it bounds how many digits cancellation can have lost. */
  peak = Number.NEGATIVE_INFINITY;

  constructor(bits: number, budget: Budget, point: Point) {
    this.#budget = budget;
    this.#real = new RealArithmetic(bits, budget);
    this.#complex = new ComplexArithmetic(this.#real);
    this.#point = point;
  }

  value(e: Expr): Complex {
    this.#budget.spend(4);
    const z = this.#valueOf(e);
    this.peak = Math.max(this.peak, magnitude(z));
    return z;
  }
  subtract(a: Complex, b: Complex): Complex {
    return this.#complex.subtract(a, b);
  }

  #valueOf(e: Expr): Complex {
    const c = this.#complex;
    switch (e.kind) {
      case "number":
        return real(this.#real.fromRational(e.value));
      case "percent":
        return c.divide(this.value(e.of), real(this.#real.fromInteger(100n)));
      case "symbol": {
        const z = this.#point.get(e.name);
        if (z === undefined) throw new Undefined(`no value for ${e.name}`);
        return z;
      }
      case "constant":
        return this.#constant(e.name);
      case "sum":
        return e.terms.map((t) => this.value(t)).reduce((a, b) => c.add(a, b));
      case "product":
        return e.factors.map((f) => this.value(f)).reduce((a, b) => c.multiply(a, b));
      case "power":
        return this.#power(e.base, e.exponent);
      case "call":
        return this.#call(e.name, e.args);
      case "bound":
        return this.#series(e);
      case "matrix":
        throw new Undefined("value of a matrix");
    }
  }

  #constant(name: string): Complex {
    if (name === "pi") return real(pi(this.#real));
    if (name === "e") return real(exp(this.#real, this.#real.fromInteger(1n)));
    if (name === "i") return IMAGINARY_UNIT;
    throw new Undefined(name);
  }

  #power(base: Expr, exponent: Expr): Complex {
    const c = this.#complex;
    if (base.kind === "constant" && base.name === "e") return c.exp(this.value(exponent));
    const z = this.value(base);
    if (exponent.kind === "number" && exponent.value.d === 2n)
      return c.integerPower(c.sqrt(z), exponent.value.n);
    return c.power(z, this.value(exponent));
  }

  #call(name: string, args: readonly Expr[]): Complex {
    const values = args.map((arg) => this.value(arg));
    const first = values[0]!;
    const unary = UNARY[name];
    if (unary && values.length === 1) return unary(this.#complex, first);
    if (name === "max" || name === "min") {
      const sign = name === "max" ? 1 : -1;
      return values.reduce((a, b) => (sign * this.#real.compare(realPart(a), realPart(b)) >= 0 ? a : b));
    }
    if (ROUNDING.has(name)) return this.#rounding(name, values);
    if (name === "factorial") return this.#factorial(this.#whole(first));
    if (WHOLE_ARGUMENTS.has(name)) {
      const whole = values.map((v) => integer(this.#whole(v)));
      const value = combinatorial(name, whole);
      if (value === undefined) throw new Undefined(`${name} outside the integers`);
      return real(this.#real.fromRational(value));
    }
    return this.#opaque(name, values);
  }

  #whole(z: Complex): bigint {
    const { integer, rest } = this.#real.nearest(realPart(z));
    if (top(rest) > -INTEGER_BITS) throw new Undefined("not an integer");
    return integer;
  }

  #factorial(n: bigint): Complex {
    if (n < 0n || n > MAX_FACTORIAL) throw new Undefined("factorial out of range");
    let product = this.#real.fromInteger(1n);
    for (let k = 2n; k <= n; k++) product = this.#real.multiply(product, { m: k, e: 0 });
    return real(product);
  }

  #floor(x: Real): bigint {
    const { integer, rest } = this.#real.nearest(x);
    return rest.m < 0n && top(rest) > -INTEGER_BITS ? integer - 1n : integer;
  }

  #rounding(name: string, values: readonly Complex[]): Complex {
    const r = this.#real;
    const x = realPart(values[0]!);
    if (name === "floor") return real(r.fromInteger(this.#floor(x)));
    if (name === "ceil") return real(r.fromInteger(-this.#floor(r.negate(x))));
    const y = realPart(values[1]!);
    const turns = r.fromInteger(this.#floor(r.divide(x, y)));
    return real(r.subtract(x, r.multiply(turns, y)));
  }

  #series(e: Extract<Expr, { kind: "bound" }>): Complex {
    if ((e.operator !== "sum" && e.operator !== "product") || !e.from || !e.to)
      throw new Undefined(e.operator);
    const from = this.#whole(this.value(e.from));
    const to = this.#whole(this.value(e.to));
    if (to - from >= BigInt(MAX_SERIES_TERMS)) throw new Undefined("series too long");
    const outside = this.#point;
    let total = real(this.#real.fromInteger(e.operator === "sum" ? 0n : 1n));
    for (let k = from; k <= to; k++) {
      this.#budget.spend(20);
      this.#point = new Map([...outside, [e.variable, real(this.#real.fromInteger(k))]]);
      const term = this.value(e.body);
      total = e.operator === "sum" ? this.#complex.add(total, term) : this.#complex.multiply(total, term);
    }
    this.#point = outside;
    return total;
  }

  /** A reproducible value in (1, 2) for an unknown function: equal arguments, equal values. */
  #opaque(name: string, args: readonly Complex[]): Complex {
    const text = `${name}(${args.map((z) => `${rounded(z.re)},${rounded(z.im)}`).join(";")})`;
    let hash = 0xcbf29ce484222325n;
    for (let i = 0; i < text.length; i++) {
      hash = ((hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n) & 0xffffffffffffffffn;
    }
    return real({ m: (1n << 64n) + hash, e: -64 });
  }
}

function realPart(z: Complex): Real {
  if (!isReal(z)) throw new Undefined("not real");
  return z.re;
}

function rounded(x: Real): string {
  const t = top(x);
  if (t === Number.NEGATIVE_INFINITY) return "0";
  const drop = t - OPAQUE_BITS - x.e;
  const m = drop > 0 ? (x.m + (1n << BigInt(drop - 1))) >> BigInt(drop) : x.m << BigInt(-drop);
  return `${m}:${t}`;
}

/** Symbols in the arguments of the named functions; the ends of a sum or product count as arguments. */
export function symbolsUnder(names: ReadonlySet<string>, ...expressions: readonly Expr[]): Set<string> {
  const found = new Set<string>();
  const visit = (part: Expr): boolean => {
    if (part.kind === "call" && names.has(part.name)) for (const arg of part.args) freeSymbols(arg, found);
    if (part.kind === "bound") for (const end of [part.from, part.to]) if (end) freeSymbols(end, found);
    return false;
  };
  for (const e of expressions) contains(e, visit);
  return found;
}

/**
 * The value of a constant expression as a rational number, if exact arithmetic finds it; otherwise undefined.
 */
export function exactValue(e: Expr, budget: Budget): Rational | undefined {
  if (e.kind === "number") return e.value;
  const field = new FractionField(new PolynomialRing(budget));
  try {
    return field.value(canonical(e, field));
  } catch (error) {
    if (error instanceof Undefined || error instanceof BudgetExceeded || error instanceof NoCanonicalForm)
      return undefined;
    throw error;
  }
}

/** A constant's value to about 38 digits; undefined when it is not a real number or too large to write out. */
export function approximate(e: Expr, budget: Budget): Rational | undefined {
  try {
    const { re, im } = new Evaluator(APPROXIMATE_BITS, budget, new Map()).value(e);
    if (top(im) > top(re) - APPROXIMATE_BITS / 2 || Math.abs(re.e) > 2000) return undefined;
    return re.e >= 0 ? rational(re.m << BigInt(re.e)) : rational(re.m, 1n << BigInt(-re.e));
  } catch (error) {
    if (error instanceof Undefined || error instanceof BudgetExceeded) return undefined;
    throw error;
  }
}
