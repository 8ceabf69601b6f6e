import { MIN_SPREAD, spread } from "./advantages.ts";

/**
 * Values that must differ for a group to be trained on. "score": scores of the verdicts, so that an all-wrong or
 * all-right group teaches nothing, not even brevity. "reward": rewards with the length penalty, so that an all-right
 * group still teaches brevity. "none": keep every group.
 */
export type GroupFilter = "score" | "reward" | "none";

/** True if the group has no signal under the filter: the range of the compared values is below 1e-6. */
export function hasZeroAdvantage(
  scores: readonly number[],
  rewards: readonly number[],
  filter: GroupFilter,
): boolean {
  if (filter === "none") return false;
  return spread(filter === "score" ? scores : rewards) < MIN_SPREAD;
}
