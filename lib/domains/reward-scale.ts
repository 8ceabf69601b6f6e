import type { Verdict } from "../records.ts";

/** How a reward's numbers are interpreted. */
export interface RewardScale {
  /** Lowest and highest number, mapped to the scores 0 and 1; without a range, a score is the number itself. */
  readonly range?: readonly [low: number, high: number] | undefined;
  /**
   * Rewards of at least this number, in the reward's own units, count as solved. Default: the top of `range`, or 1.
   */
  readonly solvedAt?: number | undefined;
}

/**
 * The verdict on a reward's number: "correct" from `solvedAt` on, "wrong" at or below the bottom of its range (0
 * without one), "partial" between. Unscored if it is not finite, or outside a stated range.
 */
export function scaledVerdict(
  value: number,
  { range, solvedAt = range?.[1] ?? 1 }: RewardScale = {},
): Verdict {
  const [low, high] = range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  if (!Number.isFinite(value))
    return { status: "unscored", cause: `the reward returned ${value}, which is not a finite number` };
  if (value < low || value > high)
    return {
      status: "unscored",
      cause: `the reward returned ${value}, which is outside its range [${low}, ${high}]`,
    };
  const reason = `reward ${Number(value.toPrecision(12))}`;
  // + 0 turns -0 into 0
  const score = range === undefined ? value + 0 : (value - low) / (high - low);
  if (value >= solvedAt) return { status: "correct", score, reason };
  return { status: score > 0 ? "partial" : "wrong", score, reason };
}
