import type { TrainingBatch } from "../../native/face.ts";
import type { RolloutGroup, ScoredRollout } from "../../records.ts";
import { trainedMembers } from "../../rewards/index.ts";
import type { SettledGroup } from "./grouper.ts";

/** A step's data for the trainer, and whose each sequence is. */
export interface AssembledBatch {
  /** Sequence i is rollout i. */
  readonly rollouts: readonly ScoredRollout[];
  /** [S] number of the group that sequence i is of, ascending. */
  readonly groupOf: Int32Array;
  readonly data: TrainingBatch & {
    readonly behaviorLogprobs: Float32Array;
    readonly advantages: Float32Array;
    /** N: those here and the masked ones, which count and are not laid down. */
    readonly sequences: number;
  };
}

/** The rollouts of a kept group that are trained, end to end, as they lie in a batch whatever stands before them. */
interface LaidGroup {
  readonly trained: readonly ScoredRollout[];
  /** [S] where each ends, and its advantage. */
  readonly ends: Int32Array;
  readonly advantages: Float32Array;
  /** [T] each. */
  readonly tokens: Int32Array;
  readonly mask: Uint8Array;
  readonly behaviorLogprobs: Float32Array;
  readonly tokenAdvantages: Float32Array;
}

const laid = new WeakMap<RolloutGroup, LaidGroup>();

/** Lays each group down that is to be trained as it comes: when a batch is whole, the trainer waits for it. */
export async function* layAhead(
  groups: AsyncIterable<SettledGroup>,
): AsyncGenerator<SettledGroup, void, undefined> {
  for await (const settled of groups) {
    if (settled.group.dropped === undefined) layDown(settled.group);
    yield settled;
  }
}

/** Once a group. */
function layDown(group: RolloutGroup): LaidGroup {
  let found = laid.get(group);
  if (found === undefined) {
    found = laidDown(trainedMembers(group));
    laid.set(group, found);
  }
  return found;
}

function laidDown(trained: readonly ScoredRollout[]): LaidGroup {
  const total = trained.reduce((n, { rollout: r }) => n + r.promptTokens.length + r.tokens.length, 0);
  const tokens = new Int32Array(total);
  const mask = new Uint8Array(total);
  const behaviorLogprobs = new Float32Array(total);
  const tokenAdvantages = new Float32Array(total);
  const ends = new Int32Array(trained.length);
  const advantages = new Float32Array(trained.length);
  let at = 0;
  trained.forEach(({ rollout, advantage }, i) => {
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
    ends[i] = at;
    advantages[i] = advantage;
  });
  return { trained, ends, advantages, tokens, mask, behaviorLogprobs, tokenAdvantages };
}

/**
 * Lays the rollouts of the kept groups end to end, prompt then response, with mask 1 on what the policy sampled of the
 * response; every such token of a sequence has its advantage (what ppo-clip reads). Masked rollouts are computed by nobody: they
 * are in the numbers of sequences and of group members alone, so that none of the others gains weight.
 * @param drGrpoNormalizer tokens, L of the recipe.
 */
export function assembleBatch(groups: readonly SettledGroup[], drGrpoNormalizer: number): AssembledBatch {
  const kept = groups.filter(({ group }) => group.dropped === undefined);
  const parts = kept.map(({ group }) => layDown(group));
  const rollouts = parts.flatMap(({ trained }) => trained);
  const total = parts.reduce((n, { tokens }) => n + tokens.length, 0);
  const data = {
    tokens: new Int32Array(total),
    cuSeqlens: new Int32Array(rollouts.length + 1),
    mask: new Uint8Array(total),
    behaviorLogprobs: new Float32Array(total),
    advantages: new Float32Array(rollouts.length),
    tokenAdvantages: new Float32Array(total),
    groupSizes: new Int32Array(rollouts.length),
    sequences: kept.reduce((n, { group }) => n + group.rollouts.length, 0),
    groups: kept.length,
    drGrpoNormalizer,
  };
  const groupOf = new Int32Array(rollouts.length);
  let at = 0;
  let sequence = 0;
  parts.forEach((part, group) => {
    const { ends } = part;
    data.tokens.set(part.tokens, at);
    data.mask.set(part.mask, at);
    data.behaviorLogprobs.set(part.behaviorLogprobs, at);
    data.tokenAdvantages.set(part.tokenAdvantages, at);
    data.advantages.set(part.advantages, sequence);
    groupOf.fill(group, sequence, sequence + ends.length);
    data.groupSizes.fill(kept[group]!.group.rollouts.length, sequence, sequence + ends.length);
    for (const end of ends) data.cuSeqlens[++sequence] = at + end;
    at += part.tokens.length;
  });
  return { rollouts, groupOf, data };
}
