/**
 * Elementary functions of reals, each accurate to a few units in the last place of the given arithmetic. Sources:
 * argument reduction and Taylor series; Newton's method for logarithms and angles, starting from doubles.
 */
import { shift, squareRoot } from "./bits.ts";
import { Undefined } from "./rational.ts";
import { NIL, type Real, type RealArithmetic, top } from "./real.ts";

/** Largest angle whose sine is computed; for larger angles correct digits would cost too much. */
const MAX_ANGLE_BITS = 512;
const GUARD = 24;

const CONSTANTS = new Map<string, bigint>();

/** pi or ln 2 scaled by 2^bits, by arctangent series. Each precision is computed once. */
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

export function pi(r: RealArithmetic): Real {
  const w = r.bits + 8;
  return r.round(scaledConstant("pi", w), -w);
}

/** A Taylor series has terms in proportion to the precision, and the cost of each is quadratic in it. */
function spendSeries(r: RealArithmetic): void {
  r.spend((r.bits / 3) * (1 + (r.bits / 512) ** 2));
}

/** x as a fixed-point integer with w fraction bits. */
const fixedPoint = (x: Real, w: number): bigint => shift(x.m, x.e + w);

/** e^x. Throws Undefined for |x| >= 2^41. */
export function exp(r: RealArithmetic, x: Real): Real {
  if (top(x) > 41) throw new Undefined("magnitude out of range");
  const halvings = 8;
  const w = r.bits + Math.max(0, top(x)) + halvings + GUARD;
  spendSeries(r);
  const ln2 = scaledConstant("ln2", w);
  const fixed = fixedPoint(x, w);
  const k = (fixed + (ln2 >> 1n)) / ln2 - (fixed + (ln2 >> 1n) < 0n ? 1n : 0n);
  const rest = (fixed - k * ln2) >> BigInt(halvings);
  const W = BigInt(w);
  let term = 1n << W;
  let total = term;
  for (let n = 1n; term !== 0n && n < 4000n; n++) {
    term = ((term * rest) >> W) / n;
    if (term === -1n) break;
    total += term;
  }
  for (let i = 0; i < halvings; i++) total = (total * total) >> W;
  return r.round(total, Number(k) - w);
}

/** Natural logarithm. Throws Undefined unless x > 0. */
export function ln(r: RealArithmetic, x: Real): Real {
  if (x.m <= 0n) throw new Undefined("logarithm of zero");
  const e = top(x);
  const scaled: Real = { m: x.m, e: x.e - e };
  const seed = Math.log(Number(shift(scaled.m, scaled.e + 60)) / 2 ** 60);
  let y = r.round(BigInt(Math.round(seed * 2 ** 52)), -52);
  for (let correct = 48; correct < r.bits + 8; correct *= 3) {
    const g = exp(r, y);
    const step = r.divide(r.subtract(scaled, g), r.add(scaled, g));
    y = r.add(y, { m: step.m, e: step.e + 1 });
  }
  const w = r.bits + 48;
  return r.add(y, r.round(BigInt(e) * scaledConstant("ln2", w), -w));
}

/** 1 - cos(2^doublings x) for a small x, all with W fraction bits. */
function doubledVersine(x: bigint, W: bigint, doublings: number): bigint {
  // Sums the series of 1 - cos, then applies 1 - cos 2t = 2(1 - cos t)(1 + cos t), which avoids cancellation.
  const square = (x * x) >> W;
  let term = square >> 1n;
  let versine = 0n;
  for (let n = 3n; term !== 0n && n < 4000n; n += 2n) {
    versine += term;
    term = -((term * square) >> W) / (n * (n + 1n));
  }
  const two = 2n << W;
  for (let i = 0; i < doublings; i++) versine = (2n * versine * (two - versine)) >> W;
  return versine;
}

/** [cos x, sin x]. Throws Undefined where |x| is 2^512 or more. */
export function circle(r: RealArithmetic, x: Real): readonly [Real, Real] {
  if (top(x) > MAX_ANGLE_BITS) throw new Undefined("angle too large");
  const halvings = 6;
  const w = r.bits + Math.max(0, top(x)) + 2 * halvings + GUARD;
  spendSeries(r);
  const quarter = scaledConstant("pi", w) >> 1n;
  const fixed = fixedPoint(x, w) + (quarter >> 1n);
  const turns = fixed / quarter - (fixed < 0n ? 1n : 0n);
  const rest = (fixed - turns * quarter - (quarter >> 1n)) >> BigInt(halvings);
  const W = BigInt(w);
  const versine = doubledVersine(rest, W, halvings);
  const one = 1n << W;
  const cosine = one - versine;
  const sineSquared = (versine * (2n * one - versine)) >> W;
  const sine = squareRoot(sineSquared << W) * (rest < 0n ? -1n : 1n);
  const quadrant = Number(((turns % 4n) + 4n) % 4n);
  const [c, s] = (
    [
      [cosine, sine],
      [-sine, cosine],
      [-cosine, -sine],
      [sine, -cosine],
    ] as const
  )[quadrant]!;
  return [r.round(c, -w), r.round(s, -w)];
}

/** Angle of the point (x, y), in (-pi, pi]. Throws Undefined at the origin. */
export function angle(r: RealArithmetic, y: Real, x: Real): Real {
  if (x.m === 0n && y.m === 0n) throw new Undefined("angle of zero");
  if (y.m === 0n) return x.m > 0n ? NIL : pi(r);
  const e = Math.max(top(x), top(y));
  const small = (v: Real) => Number(shift(v.m, v.e - e + 60)) / 2 ** 60;
  let theta = r.round(BigInt(Math.round(Math.atan2(small(y), small(x)) * 2 ** 50)), -50);
  for (let correct = 40; correct < r.bits + 8; correct *= 3) {
    const [c, s] = circle(r, theta);
    const across = r.subtract(r.multiply(y, c), r.multiply(x, s));
    const along = r.add(r.multiply(x, c), r.multiply(y, s));
    theta = r.add(theta, r.divide(across, along));
  }
  return theta;
}
