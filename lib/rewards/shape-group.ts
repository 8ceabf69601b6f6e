import {
  type DomainName,
  type DropReason,
  type Problem,
  type RewardShare,
  type Rollout,
  type RolloutGroup,
  type ScoredRollout,
  type ScoredVerdict,
  sampledTokens,
  type Verdict,
} from "../records.ts";
import { type AdvantageOptions, groupAdvantages } from "./advantages.ts";
import { type GroupFilter, hasZeroAdvantage } from "./group-filter.ts";
import { type LengthPenaltyOptions, lengthPenalty } from "./length-penalty.ts";
import { type RewardRule, tableReward } from "./reward-table.ts";
import { hookShares, rewardShares, sumOfShares } from "./several-rewards.ts";

export interface ShapingOptions {
  /** Value of a verdict. Default "score". */
  readonly reward?: RewardRule;
  readonly lengthPenalty: LengthPenaltyOptions;
  readonly advantage: AdvantageOptions;
  /**
   * Weights of the rewards of domains with several. If given, each reward is normalised in its group and their
   * weighted sum replaces the reward (GDPO). Default: the verdict's reward.
   */
  readonly partWeights?:
    | Readonly<Record<DomainName, Readonly<Record<string, number>> | undefined>>
    | undefined;
  readonly filter: GroupFilter;
  /**
   * Treatment of rollouts that the budget cut. "mask": they are in the group's baseline and in no loss (overlong
   * filtering, DAPO). Default "keep".
   */
  readonly overlong?: "keep" | "mask";
  /** Groups with fewer scored members are dropped. */
  readonly minGroupSize: number;
}

/** A group, and those of its members that have no verdict: they are in no statistic and never train. */
export interface ShapedGroup {
  readonly group: RolloutGroup;
  readonly unscored: readonly { readonly rollout: Rollout; readonly cause: string }[];
}

/**
 * Turns a problem's rollouts and their verdicts into rewards (R + lambda P) and advantages, and says whether the
 * group is dropped and why: "unscored" (no member has a verdict), "too-small-group" (fewer than minGroupSize have),
 * "zero-advantage" (see GroupFilter), "overlong" (every member is masked). Dropped groups keep their rollouts, for
 * the counts.
 * The caller must pass verdicts in the order of rollouts.
 */
export function shapeGroup(
  problem: Problem,
  rollouts: readonly Rollout[],
  verdicts: readonly Verdict[],
  submittedVersion: number,
  options: ShapingOptions,
): ShapedGroup {
  const unscored: { rollout: Rollout; cause: string }[] = [];
  const judged: { rollout: Rollout; verdict: ScoredVerdict }[] = [];
  for (const [i, rollout] of rollouts.entries()) {
    const verdict = verdicts[i]!;
    if (verdict.status === "unscored") unscored.push({ rollout, cause: verdict.cause });
    else judged.push({ rollout, verdict });
  }
  const solved = judged.filter(({ verdict }) => verdict.status === "correct").length;
  const solveRate = judged.length === 0 ? 0 : solved / judged.length;
  const scored = scoreMembers(judged, solveRate, options, problem.domain);
  const dropped = dropReason(scored, options);
  const group = { problem, rollouts: scored, solveRate, submittedVersion, ...(dropped ? { dropped } : {}) };
  return { group, unscored };
}

/** The members that are trained on if the group is. */
export function trainedMembers({ rollouts }: Pick<RolloutGroup, "rollouts">): readonly ScoredRollout[] {
  return rollouts.filter(({ masked }) => masked !== true);
}

function scoreMembers(
  judged: readonly { readonly rollout: Rollout; readonly verdict: ScoredVerdict }[],
  solveRate: number,
  options: ShapingOptions,
  domain: DomainName,
): ScoredRollout[] {
  const { reward: rule = "score", overlong = "keep" } = options;
  const shaped = judged.map(({ rollout, verdict }) => {
    const completion = {
      tokens: sampledTokens(rollout),
      finished: rollout.finish === "eos" || rollout.finish === "stop",
      correct: verdict.status === "correct",
    };
    const { penalty, penaltyScale } = lengthPenalty(completion, solveRate, options.lengthPenalty);
    const reward = tableReward(verdict, completion.finished, rule) + penaltyScale * penalty;
    const masked = overlong === "mask" && { masked: rollout.finish === "length" };
    return { rollout, verdict, reward, penaltyScale, penalty, ...masked };
  });
  const { partWeights } = options;
  return withAdvantages(shaped, options, partWeights && rewardShares(shaped, partWeights[domain]));
}

function withAdvantages(
  members: readonly Omit<ScoredRollout, "advantage">[],
  { advantage }: ShapingOptions,
  shares: readonly (readonly RewardShare[])[] | undefined,
): ScoredRollout[] {
  const shaped = shares ? members.map((member, i) => ({ ...member, shares: shares[i]! })) : members;
  const rewards = shaped.map((member) => (member.shares ? sumOfShares(member.shares) : member.reward));
  const advantages = groupAdvantages(rewards, advantage);
  return shaped.map((member, i) => ({ ...member, advantage: advantages[i]! }));
}

/**
 * A kept group with other rewards, rewards[i] for its i-th rollout; recomputes advantages and filter. Treats them as
 * one reward, even if the domain has several.
 */
export function withRewards(
  group: RolloutGroup,
  rewards: readonly number[],
  options: ShapingOptions,
): RolloutGroup {
  const rollouts = withAdvantages(
    group.rollouts.map((member, i) => ({ ...member, reward: rewards[i]! })),
    options,
    options.partWeights && hookShares(rewards),
  );
  const dropped = dropReason(rollouts, options);
  return { ...group, rollouts, ...(dropped && { dropped }) };
}

function dropReason(scored: readonly ScoredRollout[], options: ShapingOptions): DropReason | undefined {
  if (scored.length === 0) return "unscored";
  if (scored.length < options.minGroupSize) return "too-small-group";
  const scores = scored.map(({ verdict }) => verdict.score);
  const rewards = scored.map(({ reward }) => reward);
  if (options.partWeights === undefined && hasZeroAdvantage(scores, rewards, options.filter))
    return "zero-advantage";
  // equal best-of-k values, for instance if all but one are right, give no signal; of several rewards normalised
  // separately one may differ although their mean does not
  const looksAtAdvantages = options.advantage.passAt !== undefined || options.partWeights !== undefined;
  const teaches = scored.some(({ advantage }) => advantage !== 0);
  if (!teaches && looksAtAdvantages && options.filter !== "none") return "zero-advantage";
  return scored.every(({ masked }) => masked === true) ? "overlong" : undefined;
}
