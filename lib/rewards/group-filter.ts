import { MIN_SPREAD, spread } from "./advantages.ts";

/**
 * Numbers that must differ for a group to be trained on. "score": those of the verdicts, so that a group which is all
 * wrong or all right teaches nothing, not even brevity. "reward": the rewards with the length penalty, so that an
 * all-right group still teaches to be short. "none": keep every group.
 */
export type GroupFilter = "score" | "reward" | "none";

/** True when the group has no signal under the filter: the numbers it looks at span less than 1e-6. */
export function hasZeroAdvantage(
  scores: readonly number[],
  rewards: readonly number[],
  filter: GroupFilter,
): boolean {
  if (filter === "none") return false;
  return spread(filter === "score" ? scores : rewards) < MIN_SPREAD;
}
