import type { TrainingBatch } from "../../native/face.ts";
import type { Checkpoints } from "../recovery/index.ts";
import type { RunResources } from "../setup/index.ts";

/** The policy training started from, frozen: what a KL term is measured against. */
export interface ReferencePolicy extends AsyncDisposable {
  /** [T] natural logs, at the temperature of training. */
  readonly score: (batch: TrainingBatch) => Promise<Float32Array>;
}

/** Undefined where the objective has no KL term. */
export async function openReference(
  resources: RunResources,
  checkpoints: Checkpoints,
): Promise<ReferencePolicy | undefined> {
  const { objective, rollouts } = resources.recipe;
  if (objective.klCoef === 0) return undefined;
  const trainer = resources.openTrainer();
  await checkpoints.loadStart(trainer, resources);
  return {
    score: async (batch) => (await trainer.score(batch, rollouts.temperature)).logprobs,
    [Symbol.asyncDispose]: () => trainer.close(),
  };
}
