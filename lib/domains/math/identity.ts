import type { Budget } from "./budget.ts";
import { canonical, NoCanonicalForm } from "./canonical.ts";
import { type Complex, magnitude, real } from "./complex.ts";
import { Evaluator, type Point, symbolsUnder } from "./evaluate.ts";
import { FractionField } from "./fraction-field.ts";
import { PolynomialRing } from "./polynomial.ts";
import { BudgetExceeded, Undefined } from "./rational.ts";
import { separationBits } from "./separation.ts";
import { contains, type Expr, freeSymbols, negate, sameExpr, sum } from "./syntax.ts";

/** Working precision: 50 decimal digits must agree and 27 more absorb rounding. */
const BITS = 256;
const AGREEING_BITS = 167;
/** Independent random points at which two expressions in symbols must agree. */
const POINTS = 8;
const TRIES = 24;
/** A comparison of constants that needs more bits than this gives up. */
const MAX_CONSTANT_BITS = 8192;
const WHOLE_ARGUMENTS = new Set(["factorial", "binomial", "gcd", "lcm"]);
const ROUNDING = new Set(["floor", "ceil", "mod"]);

/**
 * True if two expressions are the same function of their symbols. Tries in this order: canonical forms; for
 * expressions with symbols, agreement to 50 digits at 8 random points (real symbols of either sign, principal
 * branches); for constants, agreement beyond their separation bound. Agreement to a fixed number of digits alone
 * never suffices. False if undecided, undefined or too expensive.
 */
export function identical(a: Expr, b: Expr, budget: Budget): boolean {
  if (sameExpr(a, b)) return !undefinedForm(a, budget);
  const exact = exactly(a, b, budget);
  if (exact !== undefined) return exact;
  const symbols = freeSymbols(b, freeSymbols(a));
  return symbols.size === 0 ? constantsAgree(a, b, budget) : agreeAtRandom(a, b, [...symbols], budget);
}

/** An expression that divides by zero has no value, so that it does not even equal an identical expression. */
function undefinedForm(e: Expr, budget: Budget): boolean {
  if (!contains(e, mayHaveNoValue)) return false;
  try {
    canonical(e, new FractionField(new PolynomialRing(budget)));
    return false;
  } catch (error) {
    if (error instanceof Undefined) return true;
    if (error instanceof BudgetExceeded || error instanceof NoCanonicalForm) return false;
    throw error;
  }
}

/** True for division by an expression that may be zero, and for functions with poles. */
function mayHaveNoValue(part: Expr): boolean {
  if (part.kind !== "power") return part.kind === "call" || part.kind === "bound";
  const { base, exponent } = part;
  if (exponent.kind !== "number") return true;
  return exponent.value.n <= 0n && !(base.kind === "number" && base.value.n !== 0n);
}

/** True or false if canonical forms decide, otherwise undefined. */
function exactly(a: Expr, b: Expr, budget: Budget): boolean | undefined {
  const field = new FractionField(new PolynomialRing(budget));
  try {
    if (field.equal(canonical(a, field), canonical(b, field))) return true;
    return field.ring.independent ? false : undefined;
  } catch (error) {
    if (error instanceof Undefined) return false;
    if (error instanceof BudgetExceeded || error instanceof NoCanonicalForm) return undefined;
    throw error;
  }
}

/** Runs a numeric computation; undefined where it has no value. */
function attempt<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof Undefined || error instanceof BudgetExceeded) return undefined;
    throw error;
  }
}

function constantsAgree(a: Expr, b: Expr, budget: Budget): boolean {
  const difference = sum([a, negate(b)]);
  const first = new Evaluator(BITS, budget, new Map());
  const rough = attempt(() => [first.value(a), first.value(b)] as const);
  if (rough === undefined || !near(rough[0], rough[1], first, AGREEING_BITS / 2)) return false;
  const bits = separationBits(difference, (part) => attempt(() => magnitude(first.value(part))) ?? Infinity);
  if (!(bits < MAX_CONSTANT_BITS)) return false;
  const precision = Math.ceil(bits + Math.max(0, first.peak)) + 64;
  const fine = new Evaluator(precision, budget, new Map());
  const value = attempt(() => magnitude(fine.value(difference)));
  return value !== undefined && value < -bits - 8;
}

/**
 * True if |a - b| is within 2^-bits of the larger value, allowing for cancellation inside the expressions.
 */
function near(a: Complex, b: Complex, at: Evaluator, bits: number): boolean {
  return magnitude(at.subtract(a, b)) <= Math.max(magnitude(a), magnitude(b), at.peak) - bits;
}

function agreeAtRandom(a: Expr, b: Expr, symbols: readonly string[], budget: Budget): boolean {
  const draw = drawing(symbols, symbolsUnder(WHOLE_ARGUMENTS, a, b), symbolsUnder(ROUNDING, a, b));
  let agreed = 0;
  let zeros = 0;
  for (let tried = 0; tried < TRIES && agreed < POINTS; tried++) {
    const verdict = attempt(() => agreeAt(a, b, draw(tried), budget));
    if (verdict === "differ") return false;
    if (verdict === "agree") agreed++;
    if (verdict === "zero") zeros++;
  }
  return agreed >= POINTS || (agreed === 0 && zeros >= POINTS);
}

/** Returns "zero" if both are zero, which is weak evidence: functions may be zero on whole intervals. */
function agreeAt(a: Expr, b: Expr, point: Point, budget: Budget): "agree" | "differ" | "zero" {
  const at = new Evaluator(BITS, budget, point);
  const [x, y] = [at.value(a), at.value(b)];
  const size = Math.max(magnitude(x), magnitude(y));
  const gap = magnitude(at.subtract(x, y));
  if (size === Number.NEGATIVE_INFINITY) return "zero";
  if (gap <= size - AGREEING_BITS) return "agree";
  if (gap > at.peak - AGREEING_BITS) return "differ";
  // The difference may be rounding noise, or real but small: only noise shrinks at a higher precision.
  const finer = new Evaluator(2 * BITS, budget, point);
  const left = magnitude(finer.subtract(finer.value(a), finer.value(b)));
  return left < gap - BITS / 2 ? "zero" : "differ";
}

/**
 * Draws the n-th random point: all symbols are positive in the first points, all negative in the third, and have
 * mixed signs afterwards; sizes 1/4 to 4. A symbol under a factorial is a small positive integer; a symbol under a
 * floor also takes sizes up to 2^20.
 */
function drawing(symbols: readonly string[], whole: ReadonlySet<string>, rounded: ReadonlySet<string>) {
  const random = generator(symbols.join());
  const word = () => BigInt(Math.floor(random() * 2 ** 32));
  const value = (name: string, tried: number): Complex => {
    if (whole.has(name)) return real({ m: BigInt(2 + Math.floor(random() * (8 + 4 * tried))), e: 0 });
    const mantissa = (1n << 96n) + (word() << 64n) + (word() << 32n) + word();
    const size = rounded.has(name) ? Math.floor(random() * 20) : Math.floor(random() * 4) - 2;
    const negative = tried === 2 || (tried > 2 && random() < 0.5);
    return real({ m: negative ? -mantissa : mantissa, e: size - 96 });
  };
  return (tried: number): Point => new Map(symbols.map((name) => [name, value(name, tried)]));
}

/** xorshift generator seeded by a text, so that one question always gets the same points. */
function generator(seed: string): () => number {
  let state = 0x9e3779b9;
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
