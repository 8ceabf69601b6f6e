import { CounterRandom } from "../../random.ts";

/** A 95 % interval: 2.5 % of the resampled means lie below `low` and 2.5 % above `high`. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2000;
const TAIL = 0.025;

/**
 * Percentile bootstrap of the mean over problems: as many problems as there are, drawn with replacement.
 * Applied to differences between two models on the same problems, it is the paired bootstrap. The draws are
 * always the same. Undefined for fewer than two.
 * Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, §13.3.
 */
export function bootstrapInterval(values: readonly number[], resamples = RESAMPLES): Interval | undefined {
  const n = values.length;
  if (n < 2) return undefined;
  const random = new CounterRandom(0, n);
  const means = new Float64Array(resamples);
  for (let r = 0; r < resamples; r++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += values[Math.floor(random.next() * n)]!;
    means[r] = sum / n;
  }
  means.sort();
  return { low: quantile(means, TAIL), high: quantile(means, 1 - TAIL) };
}

/** Quantile of ascending values, with linear interpolation (as in numpy). Trusts that there is a value. */
export function quantile(ascending: ArrayLike<number>, q: number): number {
  const at = q * (ascending.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, ascending.length - 1);
  return ascending[low]! + (at - low) * (ascending[high]! - ascending[low]!);
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The middle value, or the mean of the middle two. */
export const median = (values: readonly number[]): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

/** Sample standard deviation (n - 1); undefined for fewer than two. */
export function deviation(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined;
  const center = mean(values);
  return Math.sqrt(values.reduce((sum, v) => sum + (v - center) ** 2, 0) / (values.length - 1));
}
