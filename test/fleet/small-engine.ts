import type {
  EngineOptions,
  GenerationRequest,
  TrainerOptions,
  TrainingBatch,
} from "../../lib/native/face.ts";
import { type Completion, Generations } from "../../lib/native/generations.ts";
import type { Core } from "../../lib/orchestration/index.ts";
import { optimizer as OPTIMIZER, stepOptions as STEP } from "../native/small-model.ts";

export { OPTIMIZER, STEP };

export const ENGINE: EngineOptions = {
  maxRunning: 8,
  pageTokens: 16,
  pages: 64,
  maxContext: 64,
  stepTokens: 64,
  weightStorage: "f32",
  runSeed: 7n,
};

export const TRAINER: TrainerOptions = { optimizer: OPTIMIZER, packedTokens: 64, weightStorage: "f32" };

export const request = (id: number, count = 2, maxTokens = 20): GenerationRequest => ({
  id,
  prompt: Int32Array.of(5, 6, 7),
  count,
  problem: id,
  firstAttempt: 0,
  sampling: { temperature: 1 },
  maxTokens,
  stopIds: [2],
});

/** Wraps a core's engine as its users see it. */
export const generationsOf = (core: Pick<Core, "engine">): Generations =>
  new Generations((handlers) => core.engine("{}", ENGINE, handlers));

/** Omits the request's id, which differs between engines. */
export const tokensOf = (completions: readonly Completion[]) =>
  completions.map(({ attempt, tokens, versions, finish }) => ({ attempt, tokens, versions, finish }));

export async function until(condition: () => boolean | Promise<boolean>, whatFor: string): Promise<void> {
  const deadline = performance.now() + 50_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${whatFor}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Two sequences of three tokens; the first token of each is the prompt. */
export const BATCH: TrainingBatch = {
  tokens: Int32Array.of(5, 6, 2, 7, 8, 2),
  cuSeqlens: Int32Array.of(0, 3, 6),
  mask: Uint8Array.of(0, 1, 1, 0, 1, 1),
  behaviorLogprobs: Float32Array.of(0, -1, -2, 0, -1, -2),
  advantages: Float32Array.of(1, -1),
  groupSizes: Int32Array.of(2, 2),
  groups: 1,
};
