import type { Rational } from "./rational.ts";
import * as q from "./rational.ts";

/** Largest n of an exact n!. */
const MAX_FACTORIAL = 1000n;

/**
 * Value of a function of rational numbers that has a rational value: factorial, binomial, floor, ceil, abs, mod, gcd,
 * lcm, max, min. Undefined (the value) for any other function or argument; throws BudgetExceeded on huge results.
 */
export function combinatorial(name: string, args: readonly Rational[]): Rational | undefined {
  const [a, b] = args;
  if (a === undefined) return undefined;
  switch (name) {
    case "abs":
      return a.n < 0n ? q.negate(a) : a;
    case "floor":
      return q.integer(q.floor(a));
    case "ceil":
      return q.integer(-q.floor(q.negate(a)));
    case "factorial":
      return q.isInteger(a) && a.n >= 0n ? q.integer(factorial(a.n)) : undefined;
    case "binomial":
      return b && q.isInteger(a) && q.isInteger(b) ? q.integer(binomial(a.n, b.n)) : undefined;
    case "mod":
      return b && b.n !== 0n ? q.subtract(a, q.multiply(b, q.integer(q.floor(q.divide(a, b))))) : undefined;
    case "max":
      return args.reduce((x, y) => (q.compare(x, y) >= 0 ? x : y));
    case "min":
      return args.reduce((x, y) => (q.compare(x, y) <= 0 ? x : y));
    case "gcd":
    case "lcm":
      return args.every(q.isInteger)
        ? q.integer(args.map((x) => x.n).reduce(name === "gcd" ? q.gcd : lcm))
        : undefined;
    default:
      return undefined;
  }
}

const lcm = (x: bigint, y: bigint): bigint => {
  if (x === 0n || y === 0n) return 0n;
  const product = (x / q.gcd(x, y)) * y;
  return product < 0n ? -product : product;
};

export function factorial(n: bigint): bigint {
  if (n > MAX_FACTORIAL) throw new q.BudgetExceeded("factorial too large");
  let product = 1n;
  for (let k = 2n; k <= n; k++) product *= k;
  return product;
}

/** Binomial coefficient n choose k; 0 for k < 0 or 0 <= n < k. */
export function binomial(n: bigint, k: bigint): bigint {
  if (k < 0n) return 0n;
  if (n >= 0n && k > n) return 0n;
  const m = n >= 0n && 2n * k > n ? n - k : k;
  if (m > 4n * MAX_FACTORIAL) throw new q.BudgetExceeded("binomial too large");
  let result = 1n;
  for (let j = 1n; j <= m; j++) {
    result = (result * (n - m + j)) / j;
    if (q.bitLength(result) > q.MAX_BITS) throw new q.BudgetExceeded("binomial too large");
  }
  return result;
}
