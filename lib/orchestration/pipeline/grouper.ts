import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { Rollout, RolloutGroup, Verdict } from "../../records.ts";
import { type ShapingOptions, shapeGroup, withRewards } from "../../rewards/index.ts";
import type { GroupRequest } from "./group-request.ts";
import type { JudgedGroup } from "./verification.ts";

/** A group with rewards and advantages, ready to be trained on, or to be counted as dropped. */
export interface SettledGroup {
  readonly request: GroupRequest;
  readonly group: RolloutGroup;
  /** Every rollout that the engine finished, including those left out of the group. */
  readonly rollouts: readonly Rollout[];
  /** Attempts left out because they got no verdict. */
  readonly unscored: readonly number[];
  /**
   * Rewards that a hook returned in place of the recipe's, one per rollout of the group; logged for replays.
   */
  readonly rewards?: readonly number[];
  /** Advantages that a hook set once the step's batch was complete, one per rollout of the group; also logged. */
  readonly advantages?: readonly number[];
}

/** A group that was trained before, with its original rewards and advantages. */
export interface ReplayedGroup extends SettledGroup {
  /** The step that trained it first, from 0. */
  readonly first: number;
}

/** What a group hook returns: drop the group, or train on other rewards. */
export type GroupWish = "drop" | { readonly rewards: readonly number[] } | undefined;

/**
 * Called for every group that would be trained on. Returns one reward per rollout, in the group's order; advantages
 * are recomputed from them by the recipe's rules, and a filter on rewards applies again. Verdicts and scores stay.
 */
export type GroupHook = (group: RolloutGroup) => GroupWish | Promise<GroupWish>;

export interface GrouperParts {
  readonly shaping: ShapingOptions;
  readonly onGroup?: GroupHook | undefined;
  /** Called before any filter with the numbers of completed and aborted attempts. */
  readonly onCompletion: (request: GroupRequest, completed: number, failed: number) => void;
}

/**
 * Computes each group's rewards and advantages and applies the filter of lib/rewards; then calls the run's
 * own hook.
 */
export async function* settleGroups(
  groups: AsyncIterable<JudgedGroup>,
  { shaping, onGroup, onCompletion }: GrouperParts,
): AsyncGenerator<SettledGroup, void, undefined> {
  for await (const { request, rollouts, verdicts } of groups) {
    const whole = rollouts.map((r) => r.finish !== "abort");
    const failed = whole.filter((kept) => !kept).length;
    onCompletion(request, request.attempts - failed, failed);
    const ended = rollouts.filter((_, i) => whole[i]);
    const settled = settle(
      request,
      ended,
      verdicts.filter((_, i) => whole[i]),
      shaping,
    );
    const { group } = settled;
    const wish = group.dropped === undefined ? await onGroup?.(group) : undefined;
    if (wish === "drop") yield { ...settled, group: { ...group, dropped: "hook" } };
    else yield wish === undefined ? settled : rewarded(settled, wish.rewards, shaping);
  }
}

/**
 * Returns the group with the given rewards and new advantages. Throws HONE_ERR_USAGE unless there is one
 * finite reward per rollout.
 */
export function rewarded(
  settled: SettledGroup,
  rewards: readonly number[],
  shaping: ShapingOptions,
): SettledGroup {
  const { group } = settled;
  if (rewards.length !== group.rollouts.length || !rewards.every(Number.isFinite)) {
    const { domain, id } = group.problem;
    throw new HoneError(
      "HONE_ERR_USAGE",
      `hooks.onGroup gave the rewards [${rewards.join(", ")}] for ${group.rollouts.length} rollouts of ${domain} problem ${id}; one finite number each is needed`,
    );
  }
  return { ...settled, rewards, group: withRewards(group, rewards, shaping) };
}

/** Computes one group's rewards and advantages. */
export function settle(
  request: GroupRequest,
  rollouts: readonly Rollout[],
  verdicts: readonly Verdict[],
  shaping: ShapingOptions,
): SettledGroup {
  const { problem, submittedVersion } = request;
  const { group, unscored } = shapeGroup(problem, rollouts, verdicts, submittedVersion, shaping);
  return { request, group, rollouts, unscored: unscored.map(({ rollout }) => rollout.attempt) };
}

/** The schema requires a buffer for every penalty except "none". */
function penaltyOptions(
  { kind, bufferTokens, ...scales }: Recipe["lengthPenalty"],
  maxOutputTokens: number,
): ShapingOptions["lengthPenalty"] {
  if (kind === "none" || bufferTokens === undefined) return { kind: "none" };
  return { kind, bufferTokens, maxOutputTokens, ...scales };
}

/** Weights of the rewards of each domain that has several. */
function partWeights({ domains }: Recipe): NonNullable<ShapingOptions["partWeights"]> {
  const weights = ([domain, { rewards }]: readonly [string, Recipe["domains"][string]]) =>
    rewards === undefined
      ? []
      : [[domain, Object.fromEntries(Object.entries(rewards).map(([name, { weight }]) => [name, weight]))]];
  return Object.fromEntries(Object.entries(domains).flatMap(weights));
}

/** Converts the recipe's settings to the options of lib/rewards. */
export function shapingOptions(recipe: Recipe): ShapingOptions {
  const { reward, lengthPenalty, advantages, rollouts } = recipe;
  return {
    reward: reward.table,
    lengthPenalty: penaltyOptions(lengthPenalty, rollouts.maxOutputTokens),
    advantage: {
      baseline: advantages.baseline,
      passAt: advantages.passAt,
      divideBy: advantages.divideBy,
    },
    partWeights: advantages.combine === "advantages" ? partWeights(recipe) : undefined,
    filter: advantages.filter,
    overlong: advantages.overlong,
    minGroupSize: 2,
  };
}
