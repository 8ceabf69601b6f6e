/** Exact fractions of BigInts, always in lowest terms with a positive denominator. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

/**
 * Thrown when a computation would exceed the budget of a verdict; the comparison that needed it is abandoned.
 */
export class BudgetExceeded extends Error {}

/** Thrown for a value that does not exist: 1/0, ln 0, 0^-1. Such a value equals nothing, not even itself. */
export class Undefined extends Error {}

/** Largest numerator or denominator the exact arithmetic builds, in bits: 10^2400 or so. */
export const MAX_BITS = 8192;

export const ZERO: Rational = { n: 0n, d: 1n };
export const ONE: Rational = { n: 1n, d: 1n };
export const MINUS_ONE: Rational = { n: -1n, d: 1n };

const abs = (x: bigint) => (x < 0n ? -x : x);

/** Number of bits of |x|; 0 for 0. */
export function bitLength(x: bigint): number {
  const a = abs(x);
  if (a < 0x1000000000000n) return a === 0n ? 0 : Math.floor(Math.log2(Number(a))) + 1;
  const hex = a.toString(16);
  return (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex[0]!, 16)));
}

export function gcd(a: bigint, b: bigint): bigint {
  let x = abs(a);
  let y = abs(b);
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** Throws Undefined when d is 0, BudgetExceeded beyond MAX_BITS. */
export function rational(n: bigint, d = 1n): Rational {
  if (d === 0n) throw new Undefined("division by zero");
  if (d === 1n) return checked({ n, d });
  const g = gcd(n, d);
  const sign = d < 0n ? -1n : 1n;
  return checked({ n: (sign * n) / g, d: (sign * d) / g });
}

function checked(r: Rational): Rational {
  if (bitLength(r.n) > MAX_BITS || bitLength(r.d) > MAX_BITS) throw new BudgetExceeded("number too large");
  return r;
}

export const integer = (n: number | bigint): Rational => ({ n: BigInt(n), d: 1n });

export function add(a: Rational, b: Rational): Rational {
  if (a.d === 1n && b.d === 1n) return checked({ n: a.n + b.n, d: 1n });
  return rational(a.n * b.d + b.n * a.d, a.d * b.d);
}
export const negate = (a: Rational): Rational => ({ n: -a.n, d: a.d });
export const subtract = (a: Rational, b: Rational): Rational => add(a, negate(b));
export function multiply(a: Rational, b: Rational): Rational {
  if (a.d === 1n && b.d === 1n) return checked({ n: a.n * b.n, d: 1n });
  return rational(a.n * b.n, a.d * b.d);
}
export const divide = (a: Rational, b: Rational): Rational => rational(a.n * b.d, a.d * b.n);

/** a^k for an integer k; checks sizes before it computes. */
export function power(a: Rational, k: number): Rational {
  if (k === 0) return ONE;
  if (a.n === 0n) {
    if (k < 0) throw new Undefined("division by zero");
    return ZERO;
  }
  const size = Math.max(bitLength(a.n), bitLength(a.d));
  const unit = a.d === 1n && abs(a.n) === 1n;
  if (!unit && (size - 1) * Math.abs(k) > MAX_BITS) throw new BudgetExceeded("power too large");
  const m = unit ? BigInt(Math.abs(k) % 2) : BigInt(Math.abs(k));
  const n = a.n ** m;
  const d = a.d ** m;
  return k > 0 ? checked({ n, d }) : rational(d, n);
}

export const equals = (a: Rational, b: Rational): boolean => a.n === b.n && a.d === b.d;
export const compare = (a: Rational, b: Rational): number => {
  const left = a.n * b.d;
  const right = b.n * a.d;
  return left < right ? -1 : left > right ? 1 : 0;
};
export const isInteger = (a: Rational): boolean => a.d === 1n;
export const toText = (a: Rational): string => (a.d === 1n ? `${a.n}` : `${a.n}/${a.d}`);

export function floor(a: Rational): bigint {
  const q = a.n / a.d;
  return a.n < 0n && q * a.d !== a.n ? q - 1n : q;
}

/** Parses "12", "3.40" or ".5", times an optional power of ten. */
export function parseDecimal(text: string, exponent = 0): Rational {
  const [whole = "", fraction = ""] = text.split(".");
  if (whole.length + fraction.length > 2400 || Math.abs(exponent) > 2400) {
    throw new BudgetExceeded("number too long");
  }
  const digits = rational(BigInt(`${whole}${fraction}` || "0"), 10n ** BigInt(fraction.length));
  return exponent === 0 ? digits : multiply(digits, power(integer(10), exponent));
}

/** Rounds to `places` decimal places, ties to even; returns the result as a scaled integer. */
export function roundScaled(a: Rational, places: number): bigint {
  const scale = 10n ** BigInt(places);
  const doubled = 2n * a.n * scale;
  const low = floor({ n: a.n * scale, d: a.d });
  const distance = doubled - 2n * low * a.d;
  if (distance > a.d || (distance === a.d && low % 2n !== 0n)) return low + 1n;
  return low;
}

/** Primes below 2000, enough to split the radicals people write. */
const PRIMES: readonly bigint[] = (() => {
  const found: bigint[] = [];
  for (let k = 2; k < 2000; k++) if (found.every((p) => BigInt(k) % p !== 0n)) found.push(BigInt(k));
  return found;
})();

const FACTORS = new Map<bigint, ReadonlyMap<bigint, number>>();
const FACTORS_KEPT = 2000;

/**
 * Factors n > 0 into prime -> exponent; a cofactor without small primes stays whole under its own key (or as
 * the root of a perfect square), so the product is always n, even if the cofactor is composite.
 */
export function factor(n: bigint): ReadonlyMap<bigint, number> {
  const known = FACTORS.get(n);
  if (known) return known;
  const factors = new Map<bigint, number>();
  let rest = n;
  for (const p of PRIMES) {
    if (p * p > rest) break;
    let k = 0;
    while (rest % p === 0n) {
      rest /= p;
      k++;
    }
    if (k) factors.set(p, k);
  }
  if (rest > 1n) {
    const root = integerRoot(rest, 2);
    if (root * root === rest) factors.set(root, 2);
    else factors.set(rest, (factors.get(rest) ?? 0) + 1);
  }
  if (FACTORS.size >= FACTORS_KEPT) FACTORS.clear();
  if (n < 1n << 256n) FACTORS.set(n, factors);
  return factors;
}

/** Floor of the k-th root of n >= 0, by Newton's iteration. */
export function integerRoot(n: bigint, k: number): bigint {
  if (n < 2n) return n;
  const K = BigInt(k);
  let x = 1n << BigInt(Math.ceil(bitLength(n) / k));
  for (;;) {
    const next = ((K - 1n) * x + n / x ** (K - 1n)) / K;
    if (next >= x) return x;
    x = next;
  }
}
