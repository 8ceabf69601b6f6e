import type { TrainingBatch } from "../native/face.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Workshop } from "./workshop.ts";

/** The policy training started from, frozen: what a KL term is measured against. */
export interface ReferencePolicy extends AsyncDisposable {
  /** [T] natural logs, at the temperature of training. */
  readonly score: (batch: TrainingBatch) => Promise<Float32Array>;
}

/** Undefined where the objective has no KL term. */
export async function openReference(
  workshop: Workshop,
  checkpoints: Checkpoints,
): Promise<ReferencePolicy | undefined> {
  const { objective, rollouts } = workshop.recipe;
  if (objective.klCoef === 0) return undefined;
  const trainer = workshop.openTrainer();
  await checkpoints.loadStart(trainer, workshop.model);
  return {
    score: async (batch) => (await trainer.score(batch, rollouts.temperature)).logprobs,
    [Symbol.asyncDispose]: () => trainer.close(),
  };
}
