/**
 * A first recipe for one GPU of 24 GiB: Qwen3-0.6B on three domains, with answers of up to 3,072 tokens; generation and
 * training share the GPU.
 *
 *   npx hone plan recipes/single-gpu.ts       whether it fits; --gpu-memory 80GiB for another GPU
 *   npx hone check recipes/single-gpu.ts      data, prompts, verifiers and one step, before anything is downloaded
 *
 * Data: put Open-Reasoner-Zero's JSON files under data/open-reasoner-zero and IF-RLVR's parquet files under
 * data/if-rlvr (docs/reference/data.md has their addresses), or use sources that need no file: "puzzles" generates logic
 * problems, "procedural/math" arithmetic. For a source of your own, give the path of its module (docs/reference/data.md).
 * Model: a folder with config.json, tokenizer.json and model.safetensors, or a name on the Hub.
 */
import { defineRecipe } from "hone-rl";

export default defineRecipe({
  name: "single-gpu",
  hardware: { gpu: "one card of 24 GiB", gpuMemoryGiB: 24 },
  model: { folder: "Qwen/Qwen3-0.6B", weightStorage: "bf16" },
  domains: {
    math: { weight: 0.5, source: { kind: "open-reasoner-zero", path: "data/open-reasoner-zero" } },
    logic: { weight: 0.3, source: "puzzles" },
    "instruction-following": { weight: 0.2, source: { kind: "if-rlvr", path: "data/if-rlvr" } },
  },
  rollouts: { groupSize: 8, maxOutputTokens: 3072, maxPromptTokens: 1024 },
  lengthPenalty: { kind: "dap", bufferTokens: 1024 },
  optimizer: { lr: 1e-6, warmupSteps: 10 },
  training: {
    steps: 200,
    groupsPerStep: 16,
    countGroups: "kept",
    maxLag: 1,
    packedTokens: 4096,
    headRows: 4096,
  },
  engine: { maxRunning: 32, pages: 2048, stepTokens: 1024 },
  verification: { workers: 2 },
  checkpoint: { everySteps: 10 },
  evaluation: { problemsPerDomain: 64, settings: [{ temperature: 0.6, topP: 0.95 }] },
});
