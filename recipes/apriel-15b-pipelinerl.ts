/**
 * The paper's recipe with the values of the authors' trainer, PipelineRL, where the two differ: sequences are weighted by
 * length; advantages subtract the leave-one-out mean and are not divided; there is no length penalty and no filter; the
 * domains have other weights; APPS is added to TACO, with five tests per problem; verdicts follow the reference's rules.
 * docs/reference/recipe.md compares all values.
 *
 *   npx hone plan recipes/apriel-15b-pipelinerl.ts
 */
import { defineRecipe } from "hone-rl";

export default defineRecipe({
  name: "apriel-15b-pipelinerl",
  hardware: {
    gpu: "H100 80GB",
    gpuMemoryGiB: 80,
    nodes: 8,
    gpus: 64,
    processes: { actors: 32, trainers: 32, verifiers: 8 },
    recompute: true,
    sharding: { stage: "parameters" },
  },
  model: { folder: "ServiceNow-AI/Apriel-1.5-15b-Thinker", weightStorage: "bf16" },
  domains: {
    math: {
      weight: 0.35,
      source: { kind: "open-reasoner-zero", path: "data/open-reasoner-zero" },
      verifier: { compat: "reference" },
    },
    code: {
      weight: 0.25,
      source: {
        kind: "taco",
        path: ["data/taco", "data/apps"],
        split: "train",
        dropDifficulties: ["VERY_HARD"],
        maxTests: 5,
      },
      verifier: { compat: "reference" },
    },
    logic: {
      weight: 0.15,
      source: { kind: "i3-logic", path: "data/i3-logic" },
      verifier: { compat: "reference" },
    },
    "instruction-following": {
      weight: 0.15,
      source: { kind: "if-rlvr", path: "data/if-rlvr" },
      verifier: { compat: "reference" },
    },
    "function-calling": {
      weight: 0.1,
      source: { kind: "bfcl", path: "data/bfcl-v4" },
      verifier: { compat: "reference" },
    },
  },
  sampler: "adaptive",
  rollouts: { groupSize: 8, maxOutputTokens: 16_000, maxPromptTokens: 2000, temperature: 1 },
  reward: { table: "pure_success" },
  lengthPenalty: { kind: "none" },
  advantages: { baseline: "leave-one-out", divideBy: "none", filter: "none" },
  objective: { kind: "gspo", sequenceWeight: "length", clipLow: 3e-3, clipHigh: 4e-3 },
  optimizer: {
    lr: 1e-6,
    beta2: 0.999,
    weightDecay: 0.01,
    gradientClip: 0.3,
    warmupSteps: 50,
    schedule: "constant",
  },
  training: {
    steps: 400,
    groupsPerStep: 128,
    countGroups: "kept",
    schedule: "async",
    maxLag: 4,
    packedTokens: 18_000,
    headRows: 8192, // 80 GB have space for it
    stallSeconds: 3600,
  },
  engine: { maxRunning: 64, pages: 14_000, stepTokens: 1024 },
  verification: { workers: 8, timeoutMs: 5000 },
  checkpoint: { everySteps: 5, keepLast: 3 },
  evaluation: { problemsPerDomain: 256, settings: [{ temperature: 0.6, topP: 0.95 }] },
});
