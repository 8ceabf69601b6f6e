import type { Budget } from "./budget.ts";
import { approximate, exactValue } from "./evaluate.ts";
import type { Rational } from "./rational.ts";
import * as q from "./rational.ts";
import { contains, type Expr } from "./syntax.ts";

/** A decimal with this many places may be a rounded value; one with fewer is exact. */
const ROUNDED_PLACES = 6;
/**
 * A rounded value must also agree with the other value to this relative error; otherwise 0.0000004 would
 * equal 0.
 */
const RELATIVE_ERROR: Rational = { n: 1n, d: 10_000n };

export const isDecimal = (e: Expr): boolean =>
  contains(e, (part) => part.kind === "number" && part.form === "decimal");

/**
 * Equality of two constants of which at least one is a decimal. Decimals are exact: 0.1 is not 0.10000001. One with
 * six places or more may also be a rounded or truncated value: 0.333333 is 1/3, 3.1415926 is pi, but 0.333334 is
 * neither. Undefined if one of them has no real value.
 */
export function decimalsMatch(gold: Expr, answer: Expr, budget: Budget): boolean | undefined {
  const [g, a] = [exactValue(gold, budget), exactValue(answer, budget)];
  if (g !== undefined && a !== undefined && q.equals(g, a)) return true;
  const [x, y] = [g ?? approximate(gold, budget), a ?? approximate(answer, budget)];
  if (x === undefined || y === undefined) return undefined;
  const [p, r] = [isDecimal(gold) ? places(g) : 0, isDecimal(answer) ? places(a) : 0];
  if (p >= ROUNDED_PLACES && (r < ROUNDED_PLACES || r > p)) return shortens(x, y, p);
  return r >= ROUNDED_PLACES && shortens(y, x, r);
}

/** Number of decimal places that represent the number exactly; 0 if no decimal does. */
function places(value: Rational | undefined): number {
  if (value === undefined) return 0;
  const [twos, twoless] = multiplicity(value.d, 2n);
  const [fives, rest] = multiplicity(twoless, 5n);
  return rest === 1n ? Math.max(twos, fives) : 0;
}

function multiplicity(n: bigint, prime: bigint): readonly [times: number, rest: bigint] {
  let [times, rest] = [0, n];
  for (; rest % prime === 0n; times++) rest /= prime;
  return [times, rest];
}

/** True if `short` is `long` rounded or truncated to that number of places. */
function shortens(short: Rational, long: Rational, digits: number): boolean {
  const gap = absolute(q.subtract(short, long));
  if (q.compare(gap, q.multiply(absolute(long), RELATIVE_ERROR)) > 0) return false;
  const steps = q.multiply(gap, q.integer(10n ** BigInt(digits)));
  const cutOff = q.compare(absolute(short), absolute(long)) <= 0;
  return q.compare(steps, { n: 1n, d: 2n }) <= 0 || (cutOff && q.compare(steps, q.ONE) < 0);
}

const absolute = (r: Rational): Rational => (r.n < 0n ? q.negate(r) : r);
