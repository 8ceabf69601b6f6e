/**
 * Your model folder and your rows: copy this file and change the names.
 *
 *   npx hone check recipes/own-model.ts      rows, prompts and verifiers, before anything is trained
 *   npx hone run recipes/own-model.ts
 *
 * models/mine is a Hugging Face folder with config.json, tokenizer.json, safetensors and a chat template; or give
 * "org/name". data/mine/*.jsonl has one row per line: {"question": ..., "answer": ...}, or {"messages": [...],
 * "tools": [...], "reference": ...}; docs/reference/data.md lists all fields. A domain's name selects its verifier.
 */
import { defineRecipe } from "hone-rl";

export default defineRecipe({
  name: "own-model",
  model: { folder: "models/mine" },
  chatTemplate: { system: "Put the final answer within \\boxed{}." },
  domains: {
    math: { weight: 0.7, source: "jsonl:data/mine/math.jsonl" },
    logic: { weight: 0.3, source: "puzzles" },
  },
  // With a small vocabulary the longest puzzles have 1,500 tokens. Hone replaces longer prompts and counts them.
  rollouts: { groupSize: 8, maxOutputTokens: 256, maxPromptTokens: 1536 },
  lengthPenalty: { kind: "dap", bufferTokens: 64 },
  optimizer: { lr: 1e-6, warmupSteps: 5 },
  training: { steps: 50, groupsPerStep: 8 },
  engine: { maxRunning: 32 },
  evaluation: { problemsPerDomain: 32, settings: [{ temperature: 0.6, topP: 0.95 }] },
});
