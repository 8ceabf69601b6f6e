import { bitLength, type Rational } from "./rational.ts";
import type { Expr } from "./syntax.ts";

/** log2 bounds on the numerator and denominator of a number, and the product of the degrees of its roots. */
interface Size {
  readonly above: number;
  readonly below: number;
  readonly degree: number;
}

const join = (a: Size, b: Size, above: number, below: number): Size => ({
  above,
  below,
  degree: a.degree * b.degree,
});

/**
 * Number of bits after the point within which a constant expression, if it is not zero, differs from zero:
 *   |E| >= 2^-(degree - 1) above - below
 * Exact for expressions of integers, + - * / and roots (the BFMSS separation bound). For transcendental
 * functions it counts each as a root of degree 2 with the size of its value and argument, which is a
 * conjecture of the same form and not a theorem. Infinity when the expression has no such bound.
 * Source: Burnikel, Funke, Mehlhorn, Schirra, Schmitt, "A separation bound for real algebraic expressions",
 * 2001.
 * @param sizeOf log2 of the absolute value of a part, rounded up; only asked for transcendental parts.
 */
export function separationBits(e: Expr, sizeOf: (part: Expr) => number): number {
  const { above, below, degree } = measure(e, sizeOf);
  return (degree - 1) * above + below;
}

function measure(e: Expr, sizeOf: (part: Expr) => number): Size {
  switch (e.kind) {
    case "number":
      return rationalSize(e.value);
    case "percent": {
      const inner = measure(e.of, sizeOf);
      return { ...inner, below: inner.below + 7 };
    }
    case "sum":
      return e.terms
        .map((t) => measure(t, sizeOf))
        .reduce((a, b) => join(a, b, 1 + Math.max(a.above + b.below, a.below + b.above), a.below + b.below));
    case "product":
      return e.factors
        .map((f) => measure(f, sizeOf))
        .reduce((a, b) => join(a, b, a.above + b.above, a.below + b.below));
    case "power":
      return powerSize(e, sizeOf);
    case "constant":
      return e.name === "i" ? { above: 0, below: 0, degree: 2 } : { above: 3, below: 0, degree: 2 };
    case "call":
      return transcendental(e, e.args, sizeOf);
    case "bound":
      return transcendental(e, [e.body], sizeOf);
    default:
      return { above: Number.POSITIVE_INFINITY, below: 0, degree: 1 };
  }
}

const rationalSize = (r: Rational): Size => ({
  above: bitLength(r.n),
  below: r.d === 1n ? 0 : bitLength(r.d),
  degree: 1,
});

function powerSize(e: Extract<Expr, { kind: "power" }>, sizeOf: (part: Expr) => number): Size {
  const base = measure(e.base, sizeOf);
  if (e.exponent.kind !== "number") return transcendental(e, [e.base, e.exponent], sizeOf);
  const { n, d } = e.exponent.value;
  const times = Math.abs(Number(n));
  const above = (n < 0n ? base.below : base.above) * times;
  const below = (n < 0n ? base.above : base.below) * times;
  if (d === 1n) return { above, below, degree: base.degree };
  const k = Number(d);
  const degree = base.degree * k;
  return above >= below
    ? { above: (above + (k - 1) * below) / k, below, degree }
    : { above, below: ((k - 1) * above + below) / k, degree };
}

function transcendental(e: Expr, inside: readonly Expr[], sizeOf: (part: Expr) => number): Size {
  const sizes = inside.map((arg) => measure(arg, sizeOf));
  const arguments_ = sizes.reduce((bits, s) => bits + s.above + s.below, 0);
  return {
    above: Math.abs(sizeOf(e)) + arguments_ + 16,
    below: 0,
    degree: sizes.reduce((product, s) => product * s.degree, 2),
  };
}
