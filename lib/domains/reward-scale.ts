import type { Verdict } from "../records.ts";

/** How the numbers of a reward are read. */
export interface RewardScale {
  /** Its lowest and highest number, which become the scores 0 and 1; without, a score is the number itself. */
  readonly range?: readonly [low: number, high: number] | undefined;
  /** Numbers from here on are solved; by default the top of `range`, or 1. In the reward's own units. */
  readonly solvedAt?: number | undefined;
}

/**
 * The verdict on a number that a reward returned: "correct" from `solvedAt` on, "wrong" at the bottom of its range (0
 * without one) and below, "partial" between. Unscored where it is not finite, or outside a stated range.
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
