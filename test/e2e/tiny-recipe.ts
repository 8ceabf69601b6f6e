import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";

/** The quick start's recipe with a model so small that a step takes milliseconds on the real core. */
export function tinyInput(training: Partial<RecipeInput["training"]> = {}): RecipeInput {
  return {
    name: "tiny",
    seed: 3,
    model: { config: { width: 32, layers: 2, heads: 2, mlpWidth: 64, maxPositions: 128 } },
    domains: {
      math: { weight: 0.4, source: "procedural/math" },
      code: { weight: 0.25, source: "procedural/code" },
      logic: { weight: 0.15, source: "procedural/logic" },
      "instruction-following": { weight: 0.1, source: "procedural/instruction-following" },
      "function-calling": { weight: 0.1, source: "procedural/function-calling" },
    },
    warmStart: { steps: 8, batchSize: 16, mixture: { math: 0.5, logic: 0.5 }, warmupSteps: 2 },
    rollouts: { groupSize: 4, maxOutputTokens: 80, maxPromptTokens: 48 },
    lengthPenalty: { bufferTokens: 64 },
    advantages: { divideBy: "none", filter: "reward" },
    optimizer: { lr: 1e-3, warmupSteps: 1, gradientClip: 1 },
    training: { steps: 20, groupsPerStep: 4, ...training },
    engine: { maxRunning: 24 },
    checkpoint: { everySteps: 5 },
    sinks: ["jsonl"],
  };
}

export const tinyRecipe = (training: Partial<RecipeInput["training"]> = {}) =>
  defineRecipe(tinyInput(training));

/** One domain has two rewards, which differ for nearly every text; the other domain has one. */
export const twoRewards: RecipeInput["domains"] = {
  math: {
    weight: 1,
    source: "procedural/math",
    rewards: {
      digits: { weight: 2, reward: ({ completion }) => (/\d/.test(completion) ? 1 : 0) },
      brief: { weight: 1, reward: ({ completion }) => -completion.length / 100 },
    },
  },
  logic: { weight: 1, source: "procedural/logic", reward: ({ completion }) => completion.length % 3 },
};
