import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import type { Machine, Workload } from "../../lib/simulate/machine.ts";

/** A small recipe whose simulation takes a tenth of a second. */
export const recipeOf = (training: Partial<RecipeInput["training"]> = {}, rest: Partial<RecipeInput> = {}) =>
  defineRecipe({
    name: "simulated",
    model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 32 } },
    domains: {
      math: { weight: 0.6, source: "procedural/math" },
      code: { weight: 0.4, source: "procedural/code" },
    },
    rollouts: { groupSize: 4, maxOutputTokens: 400, maxPromptTokens: 48 },
    lengthPenalty: { kind: "none" },
    training: { steps: 20, groupsPerStep: 8, countGroups: "kept", maxLag: 2, ...training },
    ...rest,
  });

const answers = (mean: number, keep = 0.5): Workload => ({
  length: { mean, cv: 0.8 },
  alike: 0.3,
  promptTokens: 20,
  keep,
  verify: { mean: 0.05, cv: 1 },
});

export const WORKLOADS = { math: answers(120), code: answers(60) };

/** Two engines and one trainer; a step of generation takes about a tenth of a second. */
export const machineOf = (change: Partial<Machine> = {}): Machine => ({
  from: "a test",
  gpus: 3,
  actors: 2,
  trainers: 1,
  actor: {
    maxRunning: 16,
    keyValueTokens: 100_000,
    decode: { fixed: 0.08, perSequence: 1e-3, perContextToken: 1e-6 },
    prefillPerToken: 1e-4,
    updatePause: 0.5,
    swapPerToken: 0,
    speedDuringStep: 1,
  },
  trainer: { fixed: 0.5, perToken: 1e-4, perSquaredToken: 0, between: 0 },
  verifierWorkers: 4,
  domains: WORKLOADS,
  ...change,
});

/** The same machine with other rates of its engines. */
export const withActor = (change: Partial<Machine["actor"]>, machine = machineOf()): Machine => ({
  ...machine,
  actor: { ...machine.actor, ...change },
});
