import type { Recipe } from "../config/index.ts";
import type { StepOptions, TrainerFace } from "../native/face.ts";
import {
  type AssembledBatch,
  batchUpdates,
  laidRoutes,
  miniBatches,
  type ResettledGroup,
  type TeachTokens,
  taughtStep,
  updateData,
} from "../orchestration/index.ts";
import type { Rollout } from "../records.ts";

/**
 * The update that explains an attempt: a step's only one, with all of its groups; of several, the first that contains
 * its group.
 */
export interface ExplainedUpdate {
  /** Number of the update in the first epoch, from 1. */
  readonly number: number;
  readonly of: number;
  /** Range [from, to) of the step's groups on which it may train. */
  readonly from: number;
  readonly to: number;
  /** Log-probs of an attempt's completion under the weights before the step; absent with one update. */
  readonly oldLogprobs?: (rollout: Rollout) => Float32Array;
}

/**
 * Repeats the updates of a step before the one with the group at `place`, as in the run, and leaves the trainer with
 * the weights before that update.
 * @param groups the step's groups, settled as in training @param options of the run's updates
 */
export async function takeUpdatesBefore(
  trainer: TrainerFace,
  groups: readonly ResettledGroup[],
  place: number,
  recipe: Recipe,
  options: StepOptions,
  teach?: TeachTokens,
): Promise<ExplainedUpdate> {
  const { updatesPerBatch, epochs } = recipe.training;
  const all = { number: 1, of: 1, from: 0, to: groups.length };
  if (updatesPerBatch * epochs === 1) return all;
  const recorded = batchUpdates(groups, recipe, options).whole;
  const { batch: whole, options: taught } = await taughtStep(recorded, options, recipe, teach);
  const parts = miniBatches(groups, updatesPerBatch, recipe.rollouts.maxOutputTokens);
  if (parts.length === 0) return all;
  const starts = parts.map(({ batch }) =>
    groups.findIndex(({ rollouts }) => rollouts.includes(batch.rollouts[0]!.rollout)),
  );
  const index = Math.max(
    0,
    starts.findLastIndex((start) => start <= place),
  );
  const from = index === 0 ? 0 : starts[index]!;
  const to = starts[index + 1] ?? groups.length;
  const old = await trainer.score(whole.data, recipe.rollouts.temperature);
  const oldLogprobs = await oldOf(trainer, groups.slice(from, to), recipe, trained(whole, old.logprobs));
  for (const part of parts.slice(0, index))
    await trainer.step(updateData(part, whole, old.logprobs), { ...taught, keepsVersion: true });
  return { number: index + 1, of: parts.length, from, to, oldLogprobs };
}

/** Old log-probs of the rollouts that the step trained on. */
function trained({ rollouts, data }: AssembledBatch, old: Float32Array): Map<string, Float32Array> {
  const of = rollouts.map(({ rollout }, i) => {
    const end = data.cuSeqlens[i + 1]!;
    return [keyOf(rollout), old.subarray(end - rollout.tokens.length, end)] as const;
  });
  return new Map(of);
}

/**
 * Log-probs before the step of every rollout of the given groups: other settings may train on rollouts that the run
 * did not use.
 */
async function oldOf(
  trainer: TrainerFace,
  groups: readonly ResettledGroup[],
  { rollouts: { temperature } }: Recipe,
  known: Map<string, Float32Array>,
): Promise<(rollout: Rollout) => Float32Array> {
  for (const rollout of groups.flatMap((group) => group.rollouts)) {
    const key = keyOf(rollout);
    if (rollout.tokens.length > 0 && !known.has(key))
      known.set(key, await scoreRollout(trainer, rollout, temperature));
  }
  return (rollout) => known.get(keyOf(rollout))!;
}

const keyOf = ({ problem, attempt }: Rollout): string => `${problem.domain} ${problem.id} ${attempt}`;

/** Log-probs of a completion under the trainer's weights. */
export async function scoreRollout(
  trainer: TrainerFace,
  rollout: Pick<Rollout, "promptTokens" | "tokens" | "routes">,
  temperature: number,
): Promise<Float32Array> {
  const tokens = Int32Array.of(...rollout.promptTokens, ...rollout.tokens);
  const start = rollout.promptTokens.length;
  const mask = new Uint8Array(tokens.length).fill(1, start);
  const cuSeqlens = Int32Array.of(0, tokens.length);
  const routes = laidRoutes([rollout], cuSeqlens);
  const batch = { tokens, mask, cuSeqlens, ...(routes && { routes }) };
  return (await trainer.score(batch, temperature)).logprobs.subarray(start);
}
