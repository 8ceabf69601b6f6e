import type { Recipe } from "../config/index.ts";
import type { StepOptions, TrainerFace } from "../native/face.ts";
import { batchUpdates, miniBatches, type ResettledGroup, updateData } from "../orchestration/index.ts";
import type { Rollout } from "../records.ts";

/** The update that explains an attempt: of a step's only one, all of its groups; of several, the first with its group. */
export interface ExplainedUpdate {
  /** From 1, of the updates of the first epoch. */
  readonly number: number;
  readonly of: number;
  /** Which of the step's groups it may train on: [from, to). */
  readonly from: number;
  readonly to: number;
  /** Log-probs of an attempt's completion under the weights before the step; absent with one update. */
  readonly oldLogprobs?: (rollout: Rollout) => Float32Array;
}

/**
 * Takes the updates of a step that come before the one with the group at `place`, as the run took them, and leaves the
 * trainer with the weights that it started from.
 * @param groups the step's, settled as trained. @param options those of the run's updates.
 */
export async function takeUpdatesBefore(
  trainer: TrainerFace,
  groups: readonly ResettledGroup[],
  place: number,
  recipe: Recipe,
  options: StepOptions,
): Promise<ExplainedUpdate> {
  const { updatesPerBatch, epochs } = recipe.training;
  const all = { number: 1, of: 1, from: 0, to: groups.length };
  if (updatesPerBatch * epochs === 1) return all;
  const { whole } = batchUpdates(groups, recipe, options);
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
  const oldLogprobs = await scoreRollouts(trainer, groups.slice(from, to), recipe.rollouts.temperature);
  const old = await trainer.score(whole.data, recipe.rollouts.temperature);
  for (const part of parts.slice(0, index))
    await trainer.step(updateData(part, whole, old.logprobs), { ...options, keepsVersion: true });
  return { number: index + 1, of: parts.length, from, to, oldLogprobs };
}

/** Under the trainer's weights, of every rollout with tokens: those too that these settings do not train on. */
async function scoreRollouts(
  trainer: TrainerFace,
  groups: readonly ResettledGroup[],
  temperature: number,
): Promise<(rollout: Rollout) => Float32Array> {
  const found = new Map<string, Float32Array>();
  const keyOf = ({ problem, attempt }: Rollout) => `${problem.domain} ${problem.id} ${attempt}`;
  for (const rollout of groups.flatMap(({ rollouts }) => rollouts)) {
    if (rollout.tokens.length > 0)
      found.set(keyOf(rollout), await scoreRollout(trainer, rollout, temperature));
  }
  return (rollout) => found.get(keyOf(rollout))!;
}

/** Log-probs of a completion under the trainer's weights. */
export async function scoreRollout(
  trainer: TrainerFace,
  rollout: Pick<Rollout, "promptTokens" | "tokens">,
  temperature: number,
): Promise<Float32Array> {
  const tokens = Int32Array.of(...rollout.promptTokens, ...rollout.tokens);
  const start = rollout.promptTokens.length;
  const mask = new Uint8Array(tokens.length).fill(1, start);
  const batch = { tokens, mask, cuSeqlens: Int32Array.of(0, tokens.length) };
  return (await trainer.score(batch, temperature)).logprobs.subarray(start);
}
