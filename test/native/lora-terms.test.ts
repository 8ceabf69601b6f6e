// LoRA's head gradient is computed with the log-probs, but not that of an entropy term or of a teacher: those steps
// take the other path. Without advantages such a term is the whole loss, so that its gradient alone moves the
// adapters. A deliberate fault (mutant) that these tests detect: MicroBatchPass::scales true for every step with
// adapters (both cases).
import { expect, test } from "vitest";
import type { StepOptions, TrainingBatch } from "../../lib/native/face.ts";
import { Trainer } from "../../lib/native/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { modelConfig, stepOptions, trainerOptions, VOCABULARY } from "./small-model.ts";

const LENGTH = 12;
const COUNTED = LENGTH - 1;
const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / COUNTED;

/** Trains three steps; the mean entropies and divergences of the first and the fourth. */
async function trained(term: Partial<StepOptions>, teacher: Partial<TrainingBatch> = {}) {
  const lora = { rank: 4, alpha: 8, targets: ["all-linear"], seed: 1n };
  const trainer = new Trainer(modelConfig, { ...trainerOptions, lora });
  await trainer.initialize(3n);
  const tokens = Int32Array.from({ length: LENGTH }, (_, i) => (i * 17 + 5) % VOCABULARY);
  const mask = new Uint8Array(LENGTH).fill(1, 1);
  const sequence = { tokens, mask, cuSeqlens: Int32Array.of(0, LENGTH) };
  const { logprobs } = await trainer.score(sequence, 1);
  const batch = { ...sequence, behaviorLogprobs: logprobs, advantages: Float32Array.of(0), ...teacher };
  const options = { ...stepOptions, objective: "gspo", entropyCoef: 0, lr: 1e-2, ...term } as const;
  const reports = [];
  for (let step = 0; step < 4; step++) reports.push(await trainer.step(batch, options));
  await trainer.close();
  const [first, last] = [reports[0]!, reports[3]!];
  return { first, last };
}

test.skipIf(noAddon !== undefined)("an entropy bonus raises the entropy", async () => {
  const { first, last } = await trained({ entropyCoef: 0.5 });
  expect(first.gradNorm).toBeGreaterThan(0);
  expect(mean(last.entropies)).toBeGreaterThan(mean(first.entropies));
});

test.skipIf(noAddon !== undefined)("a teacher's divergence falls", async () => {
  const teacherIds = Int32Array.from({ length: 2 * COUNTED }, (_, i) => (i * 7) % VOCABULARY);
  const teacherTopLogprobs = Float32Array.from(teacherIds, (_, i) => Math.log(i % 2 ? 0.1 : 0.9));
  const { first, last } = await trained(
    { divergence: { coef: 1, beta: 0 } },
    { teacherIds, teacherTopLogprobs },
  );
  expect(first.gradNorm).toBeGreaterThan(0);
  expect(mean(last.divergences)).toBeLessThan(mean(first.divergences));
});
