import type { Budget } from "./budget.ts";
import { BudgetExceeded, bitLength, type Rational, Undefined } from "./rational.ts";

/** m * 2^e; zero is m = 0. Mantissas hold at most the precision of the arithmetic that made them. */
export interface Real {
  readonly m: bigint;
  readonly e: number;
}

export const NIL: Real = { m: 0n, e: 0 };
const MAX_EXPONENT = 2 ** 40;
/** Beyond this the angle of a sine has no correct digits worth their cost. */
const MAX_ANGLE_BITS = 512;
const GUARD = 24;

const abs = (x: bigint) => (x < 0n ? -x : x);
const shift = (x: bigint, by: number) => (by >= 0 ? x << BigInt(by) : x >> BigInt(-by));

/** Exponent of the leading bit plus one: |x| < 2^top(x), and at least half of it. -Infinity for zero. */
export const top = (x: Real): number => (x.m === 0n ? Number.NEGATIVE_INFINITY : width(x.m) + x.e);

/** Bit length to within one, without printing numbers that fit a double. */
function width(m: bigint): number {
  const approximate = Math.abs(Number(m));
  return approximate < 1e300 ? Math.floor(Math.log2(approximate)) + 1 : bitLength(m);
}

const CONSTANTS = new Map<string, bigint>();

/** pi and ln 2 scaled by 2^bits, by arctangent series; kept per precision. */
function scaledConstant(name: "pi" | "ln2", bits: number): bigint {
  const key = `${name}${bits}`;
  let value = CONSTANTS.get(key);
  if (value === undefined) {
    const series = (k: bigint, alternating: boolean) => {
      let term = (1n << BigInt(bits + GUARD)) / k;
      let total = 0n;
      for (let n = 1n, sign = 1n; term !== 0n; n += 2n, sign = alternating ? -sign : sign) {
        total += (sign * term) / n;
        term /= k * k;
      }
      return total;
    };
    const scaled =
      name === "pi"
        ? 16n * series(5n, true) - 4n * series(239n, true)
        : 18n * series(26n, false) - 2n * series(4801n, false) + 8n * series(8749n, false);
    value = scaled >> BigInt(GUARD);
    if (CONSTANTS.size > 64) CONSTANTS.clear();
    CONSTANTS.set(key, value);
  }
  return value;
}

/**
 * Binary floating point of `bits` bits with elementary functions, each good to within a few units of the last
 * place. Work is charged to the budget. Sources: argument reduction and Taylor series; Newton for roots, logarithms
 * and angles, starting from doubles.
 */
export class RealArithmetic {
  readonly bits: number;
  readonly #budget: Budget;

  constructor(bits: number, budget: Budget) {
    this.bits = bits;
    this.#budget = budget;
  }

  /** x rounded to the working precision. Throws Undefined on exponents beyond 2^40. */
  round(m: bigint, e: number): Real {
    this.#budget.spend(8 + this.bits / 32);
    if (m === 0n) return NIL;
    const excess = width(m) - this.bits;
    const kept: Real = excess > 0 ? { m: shift(m, -excess), e: e + excess } : { m, e };
    if (Math.abs(kept.e) > MAX_EXPONENT) throw new Undefined("magnitude out of range");
    return kept;
  }
  fromInteger(n: bigint): Real {
    return this.round(n, 0);
  }
  fromRational(r: Rational): Real {
    if (r.d === 1n) return this.fromInteger(r.n);
    const scale = this.bits + Math.max(0, bitLength(r.d) - bitLength(r.n)) + 2;
    return this.round(shift(r.n, scale) / r.d, -scale);
  }
  pi(): Real {
    const w = this.bits + 8;
    return this.round(scaledConstant("pi", w), -w);
  }

  negate(x: Real): Real {
    return { m: -x.m, e: x.e };
  }
  add(x: Real, y: Real): Real {
    if (x.m === 0n) return y;
    if (y.m === 0n) return x;
    const [high, low] = x.e >= y.e ? [x, y] : [y, x];
    const gap = high.e - low.e;
    if (gap > 2 * this.bits + 8) return high;
    return this.round((high.m << BigInt(gap)) + low.m, low.e);
  }
  subtract(x: Real, y: Real): Real {
    return this.add(x, this.negate(y));
  }
  multiply(x: Real, y: Real): Real {
    return this.round(x.m * y.m, x.e + y.e);
  }
  divide(x: Real, y: Real): Real {
    if (y.m === 0n) throw new Undefined("division by zero");
    const scale = Math.max(0, this.bits + 2 + width(y.m) - (x.m === 0n ? 0 : width(x.m)));
    return this.round((x.m << BigInt(scale)) / y.m, x.e - y.e - scale);
  }
  sign(x: Real): number {
    return x.m > 0n ? 1 : x.m < 0n ? -1 : 0;
  }
  compare(x: Real, y: Real): number {
    return this.sign(this.subtract(x, y));
  }
  sqrt(x: Real): Real {
    if (x.m === 0n) return NIL;
    let scale = Math.max(0, 2 * this.bits + 4 - width(x.m));
    if ((x.e - scale) % 2 !== 0) scale++;
    this.#budget.spend(this.bits / 8);
    return this.round(squareRoot(x.m << BigInt(scale)), (x.e - scale) / 2);
  }
  /** Nearest integer and the distance to it. */
  nearest(x: Real): { integer: bigint; rest: Real } {
    if (x.e >= 0) {
      if (x.e > 4096) throw new BudgetExceeded("integer too large");
      return { integer: shift(x.m, x.e), rest: NIL };
    }
    if (-x.e > 8 * this.bits) return { integer: 0n, rest: x };
    const half = 1n << BigInt(-x.e - 1);
    const integer = (x.m + half) >> BigInt(-x.e);
    return { integer, rest: this.round(x.m - (integer << BigInt(-x.e)), x.e) };
  }

  /** A Taylor series: terms in proportion to the precision, each a multiplication quadratic in it. */
  #spendSeries(): void {
    this.#budget.spend((this.bits / 3) * (1 + (this.bits / 512) ** 2));
  }

  /** x as a fixed-point integer of w fraction bits. */
  #fixed(x: Real, w: number): bigint {
    return shift(x.m, x.e + w);
  }

  exp(x: Real): Real {
    if (top(x) > 41) throw new Undefined("magnitude out of range");
    const halvings = 8;
    const w = this.bits + Math.max(0, top(x)) + halvings + GUARD;
    this.#spendSeries();
    const ln2 = scaledConstant("ln2", w);
    const fixed = this.#fixed(x, w);
    const k = (fixed + (ln2 >> 1n)) / ln2 - (fixed + (ln2 >> 1n) < 0n ? 1n : 0n);
    const r = (fixed - k * ln2) >> BigInt(halvings);
    const W = BigInt(w);
    let term = 1n << W;
    let total = term;
    for (let n = 1n; term !== 0n && n < 4000n; n++) {
      term = ((term * r) >> W) / n;
      if (term === -1n) break;
      total += term;
    }
    for (let i = 0; i < halvings; i++) total = (total * total) >> W;
    return this.round(total, Number(k) - w);
  }

  /** Natural logarithm of x > 0. */
  ln(x: Real): Real {
    if (x.m <= 0n) throw new Undefined("logarithm of zero");
    const e = top(x);
    const scaled: Real = { m: x.m, e: x.e - e };
    const seed = Math.log(Number(shift(scaled.m, scaled.e + 60)) / 2 ** 60);
    let y = this.round(BigInt(Math.round(seed * 2 ** 52)), -52);
    for (let correct = 48; correct < this.bits + 8; correct *= 3) {
      const g = this.exp(y);
      const step = this.divide(this.subtract(scaled, g), this.add(scaled, g));
      y = this.add(y, { m: step.m, e: step.e + 1 });
    }
    const w = this.bits + 48;
    return this.add(y, this.round(BigInt(e) * scaledConstant("ln2", w), -w));
  }

  /** [cos x, sin x]. */
  circle(x: Real): readonly [Real, Real] {
    if (top(x) > MAX_ANGLE_BITS) throw new Undefined("angle too large");
    const halvings = 6;
    const w = this.bits + Math.max(0, top(x)) + 2 * halvings + GUARD;
    this.#spendSeries();
    const quarter = scaledConstant("pi", w) >> 1n;
    const fixed = this.#fixed(x, w) + (quarter >> 1n);
    const turns = fixed / quarter - (fixed < 0n ? 1n : 0n);
    const r = (fixed - turns * quarter - (quarter >> 1n)) >> BigInt(halvings);
    const W = BigInt(w);
    // 1 - cos by its series, doubled back up by 1 - cos 2t = 2(1 - cos t)(1 + cos t): no cancellation.
    const square = (r * r) >> W;
    let term = square >> 1n;
    let versine = 0n;
    for (let n = 3n; term !== 0n && n < 4000n; n += 2n) {
      versine += term;
      term = -((term * square) >> W) / (n * (n + 1n));
    }
    const one = 1n << W;
    for (let i = 0; i < halvings; i++) versine = (2n * versine * (2n * one - versine)) >> W;
    const cosine = one - versine;
    const sineSquared = (versine * (2n * one - versine)) >> W;
    const sine = squareRoot(sineSquared << W) * (r < 0n ? -1n : 1n);
    const quadrant = Number(((turns % 4n) + 4n) % 4n);
    const [c, s] = (
      [
        [cosine, sine],
        [-sine, cosine],
        [-cosine, -sine],
        [sine, -cosine],
      ] as const
    )[quadrant]!;
    return [this.round(c, -w), this.round(s, -w)];
  }

  /** Angle of the point (x, y), in (-pi, pi]. Undefined at the origin. */
  angle(y: Real, x: Real): Real {
    if (x.m === 0n && y.m === 0n) throw new Undefined("angle of zero");
    if (y.m === 0n) return x.m > 0n ? NIL : this.pi();
    const e = Math.max(top(x), top(y));
    const small = (v: Real) => Number(shift(v.m, v.e - e + 60)) / 2 ** 60;
    let theta = this.round(BigInt(Math.round(Math.atan2(small(y), small(x)) * 2 ** 50)), -50);
    for (let correct = 40; correct < this.bits + 8; correct *= 3) {
      const [c, s] = this.circle(theta);
      const across = this.subtract(this.multiply(y, c), this.multiply(x, s));
      const along = this.add(this.multiply(x, c), this.multiply(y, s));
      theta = this.add(theta, this.divide(across, along));
    }
    return theta;
  }
}

/** Floor of the square root, seeded by a double so that each step doubles the correct digits. */
function squareRoot(n: bigint): bigint {
  if (n < 0n) return 0n;
  const bits = n === 0n ? 0 : width(n);
  if (bits <= 52) return BigInt(Math.floor(Math.sqrt(Number(n))));
  const drop = (bits - 50) & ~1;
  let x = BigInt(Math.floor(Math.sqrt(Number(shift(n, -drop))))) << BigInt(drop / 2);
  for (let correct = 24; correct < bits; correct *= 2) x = (x + n / x) >> 1n;
  while (abs(x * x - n) > 2n * x) x = (x + n / x) >> 1n;
  return x * x > n ? x - 1n : x;
}
