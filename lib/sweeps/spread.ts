import type { Interval } from "../suites/index.ts";

/** A number over seeds. */
export interface Spread {
  readonly n: number;
  readonly mean: number;
  /** Sample standard deviation (n - 1); absent for one value. */
  readonly deviation?: number | undefined;
  /** 95 %, Student's t: mean ± t(n - 1) deviation / √n. Absent for one value. */
  readonly interval?: Interval | undefined;
}

/** Undefined without values. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  const n = values.length;
  if (n === 0) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { n, mean };
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1));
  const half = (studentQuantile(n - 1) * deviation) / Math.sqrt(n);
  return { n, mean, deviation, interval: { low: mean - half, high: mean + half } };
}

/** Spread of the differences b - a, seed by seed: only seeds that both have count. */
export function pairedSpread(
  a: ReadonlyMap<number, number>,
  b: ReadonlyMap<number, number>,
): Spread | undefined {
  return spreadOf([...b].flatMap(([seed, value]) => (a.has(seed) ? [value - a.get(seed)!] : [])));
}

const CONFIDENCE = 0.95;

/** t such that 95 % of Student's distribution with this many degrees of freedom (an integer >= 1) lies in ±t. */
export function studentQuantile(degrees: number): number {
  let [low, high] = [0, 16];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (withinProbability(middle, degrees) < CONFIDENCE) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(|T| < t). Source: Abramowitz & Stegun, 26.7.3 and 26.7.4. */
function withinProbability(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const odd = degrees % 2 === 1;
  if (degrees === 1) return (2 * angle) / Math.PI;
  let term = odd ? cos : 1;
  let sum = term;
  for (let k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= (cos * cos * (k - 1)) / k;
    sum += term;
  }
  return odd ? (2 * (angle + sin * sum)) / Math.PI : sin * sum;
}
