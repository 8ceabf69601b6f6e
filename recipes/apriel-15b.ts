/**
 * The paper's launch configuration: five domains, 64 H100s, half of which generate. docs/reference/recipe.md has the
 * source of every value. Sequences are weighted by their length, as in the authors' code, which says that these weights
 * complement the difficulty-aware length penalty; apriel-15b-uniform.ts has equation 2's uniform weights. Hone can plan,
 * check and simulate this recipe as 72 processes on 8 nodes. The recipe has never run: trainers that divide their work
 * among GPUs have only been tested in an emulation (docs/how-to/cluster.md).
 *
 *   npx hone plan recipes/apriel-15b.ts       memory of an actor and of a trainer GPU
 *   npx hone check recipes/apriel-15b.ts      data, prompts, verifiers, one step, and the place of each process
 *   npx hone simulate recipes/apriel-15b.ts   hours, and which processes wait for others
 *
 * data/ contains the public data sets as they are published; docs/reference/data.md has their sources.
 */
import { defineRecipe } from "hone-rl";

export default defineRecipe({
  name: "apriel-15b",
  hardware: {
    gpu: "H100 80GB",
    gpuMemoryGiB: 80,
    nodes: 8,
    gpus: 64,
    // one verifier host per node, on the node's CPUs
    processes: { actors: 32, trainers: 32, verifiers: 8 },
    recompute: true,
    sharding: { stage: "parameters" },
  },
  model: { folder: "ServiceNow-AI/Apriel-1.5-15b-Thinker", weightStorage: "bf16" },
  domains: {
    math: {
      weight: 0.4,
      source: { kind: "open-reasoner-zero", path: "data/open-reasoner-zero", draw: "uniform" },
    },
    code: { weight: 0.25, source: { kind: "taco", path: "data/taco", split: "train", draw: "uniform" } },
    logic: { weight: 0.15, source: { kind: "i3-logic", path: "data/i3-logic", draw: "uniform" } },
    "instruction-following": {
      weight: 0.1,
      source: { kind: "if-rlvr", path: "data/if-rlvr", heldOut: 550, draw: "uniform" },
    },
    "function-calling": { weight: 0.1, source: { kind: "bfcl", path: "data/bfcl-v4", draw: "uniform" } },
  },
  sampler: "adaptive",
  rollouts: { groupSize: 8, maxOutputTokens: 16_000, maxPromptTokens: 2000, temperature: 1 },
  lengthPenalty: { kind: "dap", bufferTokens: 2000, solveRateExponent: 1, incorrectScale: 1 },
  advantages: { baseline: "mean", divideBy: "population-std", filter: "reward" },
  objective: { kind: "gspo", sequenceWeight: "length", clipLow: 3e-3, clipHigh: 4e-3 },
  optimizer: {
    lr: 1.25e-6,
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
  verification: { workers: 8, timeoutMs: 10_000 }, // workers per verifier host
  checkpoint: { everySteps: 5, keepLast: 3, keepBest: 2 },
  evaluation: {
    everySteps: 50,
    fromStep: 150,
    problemsPerDomain: 256,
    settings: [{ temperature: 0.6, topP: 0.95 }],
  },
});
