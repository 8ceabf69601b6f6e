export interface AdvantageOptions {
  /** Baseline of a reward: the group's mean, or the mean of the others. Default "mean". */
  readonly baseline?: "mean" | "leave-one-out";
  /**
   * Divisor of the difference: 1, or the group's standard deviation over n or over n - 1, plus 1e-6. Default
   * "population-std".
   */
  readonly divideBy?: "none" | "population-std" | "sample-std";
  /** Groups whose rewards span less than this get advantages of exactly 0. Default 1e-6. */
  readonly minSpread?: number;
}

const STD_EPSILON = 1e-6;
export const MIN_SPREAD = 1e-6;

/** max - min; 0 for no values. */
export function spread(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.max(...values) - Math.min(...values);
}

/**
 * Group-relative advantages: A_i = (r_i - baseline_i) / scale, dimensionless.
 * Rewards that do not differ, and groups of one, give exactly 0: rounding must not become a gradient.
 * Source: the baseline and the scale are switches because the paper only says "relative to the group".
 */
export function groupAdvantages(rewards: readonly number[], options: AdvantageOptions = {}): number[] {
  const { baseline = "mean", divideBy = "population-std", minSpread = MIN_SPREAD } = options;
  const n = rewards.length;
  if (n < 2 || spread(rewards) < minSpread) return rewards.map(() => 0);
  // Subtracting the first reward before summing keeps the digits of rewards that are large and close.
  const origin = rewards[0]!;
  const offset = rewards.reduce((sum, reward) => sum + (reward - origin), 0) / n;
  const centered = rewards.map((reward) => reward - origin - offset);
  const squares = centered.reduce((sum, difference) => sum + difference * difference, 0);
  const leaveOneOut = baseline === "leave-one-out" ? n / (n - 1) : 1;
  const divisor = {
    none: 1,
    "population-std": Math.sqrt(squares / n) + STD_EPSILON,
    "sample-std": Math.sqrt(squares / (n - 1)) + STD_EPSILON,
  }[divideBy];
  return centered.map((difference) => (difference * leaveOneOut) / divisor);
}
