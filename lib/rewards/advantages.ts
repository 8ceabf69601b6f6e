export interface AdvantageOptions {
  /**
   * Baseline of a reward: the group's mean, the mean of the others, or the mean over the step's batch or over the domain's
   * part of it. Default "mean".
   */
  readonly baseline?: "mean" | "leave-one-out" | "batch-mean" | "domain-mean";
  /** k: maximises the best of k answers instead of one; see {@link bestOfDifferences}. Default: one. */
  readonly passAt?: number | undefined;
  /**
   * Divisor of the difference: 1, or a standard deviation plus 1e-6: that of the group's rewards (over n or
   * over n - 1), or that of the differences in the step's batch or in the domain's part of it (over n).
   * Default "population-std".
   */
  readonly divideBy?: "none" | "population-std" | "sample-std" | "batch-std" | "domain-std";
  /** Groups whose rewards span less than this get advantages of exactly 0. Default 1e-6. */
  readonly minSpread?: number;
}

export const STD_EPSILON = 1e-6;
/** Relative bound of the rounding errors in sums of a thousand shares. */
const ROUNDING = 1e-12;
export const MIN_SPREAD = 1e-6;

/** max - min; 0 for no values. */
export function spread(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.max(...values) - Math.min(...values);
}

/**
 * Group-relative advantages: A_i = (r_i - baseline_i) / scale, dimensionless. Equal rewards, and groups of
 * one, give exactly 0: rounding errors must not become a gradient. {@link batchAdvantages} adds the parts
 * that need the step's batch: here a batch divisor is 1, a batch baseline 0.
 * Source: the baseline and the scale are options because the paper of Apriel-Reasoner only says "relative to
 * the group".
 */
export function groupAdvantages(rewards: readonly number[], options: AdvantageOptions = {}): number[] {
  const { baseline = "mean", passAt = 1, divideBy = "population-std", minSpread = MIN_SPREAD } = options;
  const n = rewards.length;
  if (isBatchwide(baseline)) return [...rewards];
  if (n < 2 || spread(rewards) < minSpread) return rewards.map(() => 0);
  // Subtracting the first reward before summing keeps the digits of rewards that are large and close.
  const origin = rewards[0]!;
  const offset = rewards.reduce((sum, reward) => sum + (reward - origin), 0) / n;
  const centered = rewards.map((reward) => reward - origin - offset);
  const squares = centered.reduce((sum, difference) => sum + difference * difference, 0);
  const leaveOneOut = baseline === "leave-one-out" ? n / (n - 1) : 1;
  const differences =
    passAt > 1 ? bestOfDifferences(rewards, passAt) : centered.map((difference) => difference * leaveOneOut);
  const divisor = {
    none: 1,
    "population-std": Math.sqrt(squares / n) + STD_EPSILON,
    "sample-std": Math.sqrt(squares / (n - 1)) + STD_EPSILON,
    "batch-std": 1,
    "domain-std": 1,
  }[divideBy];
  return differences.map((difference) => difference / divisor);
}

/** True for a baseline or divisor over all groups of a step, or over those of a domain. */
export const isBatchwide = (choice: string | undefined): boolean =>
  choice?.startsWith("batch-") === true || choice?.startsWith("domain-") === true;

/**
 * For each reward, the mean of the best over all sets of k members that contain it, minus the same over those that do
 * not (k at most n - 1; with k = 1 the difference to the mean of the others). Times k / n, its score-function
 * gradient is the unbiased estimate of that of E[best of k]: Walder & Karkhanis 2025, "Pass@K Policy Optimization";
 * for rewards of 0 and 1 that of pass@k (Chen et al. 2025, "Pass@k Training"). O(n^2 log n).
 */
export function bestOfDifferences(rewards: readonly number[], k: number): number[] {
  const size = Math.min(k, rewards.length - 1);
  const rounding = ROUNDING * Math.max(...rewards.map(Math.abs));
  return rewards.map((reward, i) => {
    const others = rewards.filter((_, j) => j !== i).sort((a, b) => a - b);
    const beside = size === 1 ? reward : meanOfBest(others, size - 1, (best) => Math.max(best, reward));
    const difference = beside - meanOfBest(others, size, (best) => best);
    return Math.abs(difference) < rounding ? 0 : difference;
  });
}

/**
 * Mean of `of(best)` over all sets of `size` members, whose greatest is best. @param sorted ascending, at
 * least `size`
 */
function meanOfBest(sorted: readonly number[], size: number, of: (best: number) => number): number {
  // The share of sets whose greatest member is the r-th of n is C(r - 1, size - 1) / C(n, size).
  let share = size / sorted.length;
  let sum = 0;
  for (let r = sorted.length; r >= size; r -= 1) {
    sum += share * of(sorted[r - 1]!);
    share *= (r - size) / Math.max(1, r - 1);
  }
  return sum;
}
