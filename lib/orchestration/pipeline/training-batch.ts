import type { TrainingBatch } from "../../native/face.ts";
import type { Rollout, ScoredRollout } from "../../records.ts";
import { trainedMembers } from "../../rewards/index.ts";
import type { SettledGroup } from "./grouper.ts";

/** A step's data for the trainer, and the rollout of each sequence. */
export interface AssembledBatch {
  /** Sequence i is rollout i. */
  readonly rollouts: readonly ScoredRollout[];
  /** [S] group number of each sequence, ascending. */
  readonly groupOf: Int32Array;
  readonly data: TrainingBatch & {
    readonly behaviorLogprobs: Float32Array;
    readonly advantages: Float32Array;
    /** [T]; 0 where the mask is 0. */
    readonly tokenAdvantages: Float32Array;
    /** N: number of sequences, including masked ones, which are not in the arrays. */
    readonly sequences: number;
  };
  /**
   * [T] natural log-probs under the teacher, already part of `data.tokenAdvantages`; absent without a
   * teacher.
   */
  readonly teacherLogprobs?: Float32Array;
}

/**
 * Concatenates the rollouts of the kept groups, prompt then response, with mask 1 on the response tokens that
 * the policy sampled; every such token has its sequence's advantage. Masked rollouts are not included: they
 * only count in the numbers of sequences and of group members, so that no other rollout gains weight.
 * @param drGrpoNormalizer tokens, L of the recipe
 */
export function assembleBatch(groups: readonly SettledGroup[], drGrpoNormalizer: number): AssembledBatch {
  const kept = groups.filter(({ group }) => group.dropped === undefined);
  const parts = kept.map(({ group }) => trainedMembers(group));
  const rollouts = parts.flat();
  const data = {
    ...laidDown(rollouts),
    groupSizes: new Int32Array(rollouts.length),
    sequences: kept.reduce((n, { group }) => n + group.rollouts.length, 0),
    groups: kept.length,
    drGrpoNormalizer,
  };
  const groupOf = new Int32Array(rollouts.length);
  let at = 0;
  parts.forEach(({ length }, group) => {
    groupOf.fill(group, at, at + length);
    data.groupSizes.fill(kept[group]!.group.rollouts.length, at, at + length);
    at += length;
  });
  return { rollouts, groupOf, data };
}

function laidDown(rollouts: readonly ScoredRollout[]) {
  const total = rollouts.reduce((n, { rollout: r }) => n + r.promptTokens.length + r.tokens.length, 0);
  const tokens = new Int32Array(total);
  const cuSeqlens = new Int32Array(rollouts.length + 1);
  const mask = new Uint8Array(total);
  const behaviorLogprobs = new Float32Array(total);
  const advantages = new Float32Array(rollouts.length);
  const tokenAdvantages = new Float32Array(total);
  let at = 0;
  rollouts.forEach(({ rollout, advantage }, i) => {
    const response = at + rollout.promptTokens.length;
    const end = response + rollout.tokens.length;
    tokens.set(rollout.promptTokens, at);
    tokens.set(rollout.tokens, response);
    mask.fill(1, response, end);
    behaviorLogprobs.set(rollout.logprobs, response);
    tokenAdvantages.fill(advantage, response, end);
    rollout.episode?.given.forEach((given, t) => {
      if (given === 1) mask[response + t] = tokenAdvantages[response + t] = 0;
    });
    at = end;
    cuSeqlens[i + 1] = at;
    advantages[i] = advantage;
  });
  const routes = laidRoutes(
    rollouts.map(({ rollout }) => rollout),
    cuSeqlens,
  );
  return {
    tokens,
    cuSeqlens,
    mask,
    behaviorLogprobs,
    advantages,
    tokenAdvantages,
    ...(routes && { routes }),
  };
}

/** A byte of a row that has no routes: the router chooses (csrc/model/routes.h). */
const NO_ROUTE = 255;

/** [T, width] routes of the rollouts' rows; undefined if no rollout has any. */
export function laidRoutes(
  rollouts: readonly Pick<Rollout, "routes">[],
  cuSeqlens: Int32Array,
): Uint8Array | undefined {
  const width = rollouts.find(({ routes }) => routes !== undefined)?.routes?.width;
  if (width === undefined) return undefined;
  const laid = new Uint8Array(cuSeqlens.at(-1)! * width).fill(NO_ROUTE);
  rollouts.forEach(({ routes }, i) => {
    if (routes !== undefined) laid.set(routes.bytes, cuSeqlens[i]! * width);
  });
  return laid;
}
