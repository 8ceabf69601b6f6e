/** Operations on the bits of integers of any length. */
import { bitLength } from "./rational.ts";

const abs = (x: bigint) => (x < 0n ? -x : x);

/** x * 2^by, rounded towards negative infinity. */
export const shift = (x: bigint, by: number): bigint => (by >= 0 ? x << BigInt(by) : x >> BigInt(-by));

/** Bit length, exact to within one; writes out only numbers that do not fit a double. */
export function width(m: bigint): number {
  const approximate = Math.abs(Number(m));
  return approximate < 1e300 ? Math.floor(Math.log2(approximate)) + 1 : bitLength(m);
}

/** Floor of the square root, 0 for negative n. Starts from a double; each Newton step doubles the correct digits. */
export function squareRoot(n: bigint): bigint {
  if (n < 0n) return 0n;
  const bits = n === 0n ? 0 : width(n);
  if (bits <= 52) return BigInt(Math.floor(Math.sqrt(Number(n))));
  const drop = (bits - 50) & ~1;
  let x = BigInt(Math.floor(Math.sqrt(Number(shift(n, -drop))))) << BigInt(drop / 2);
  for (let correct = 24; correct < bits; correct *= 2) x = (x + n / x) >> 1n;
  while (abs(x * x - n) > 2n * x) x = (x + n / x) >> 1n;
  return x * x > n ? x - 1n : x;
}
