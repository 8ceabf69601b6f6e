// Tests what an error says about a field of a recipe: the values or the form it takes, and the other trainer whose name
// for the field was used.
import { expect, test } from "vitest";
import { issuesOf } from "./recipes.ts";

const messages = (input: unknown) =>
  Object.fromEntries(
    issuesOf(input).map(({ path, message, suggestion }) => [
      path,
      suggestion === undefined ? message : `${message} -> ${suggestion}`,
    ]),
  );

test("an empty recipe is told what each section must hold", () => {
  expect(messages({ name: "m" })).toEqual({
    model:
      'is required: { folder: "<folder, or org/name of the Hub>" }, or { config: { width, layers, heads, mlpWidth } } for a new one',
    domains: "is required: { <name>: { weight: 1, source: ... } }",
    rollouts: "is required, with maxOutputTokens, maxPromptTokens",
    training: "is required, with steps",
  });
});

const BASE = {
  name: "m",
  model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 64 } },
  domains: { math: { weight: 1, source: "procedural/math" } },
  rollouts: { maxOutputTokens: 16, maxPromptTokens: 64 },
  training: { steps: 2, groupsPerStep: 4 },
};

test.each<[string, object, Record<string, string>]>([
  ["a GPU is cuda", { device: "gpu" }, { device: 'is "gpu"; expected one of "cpu", "cuda" -> cuda' }],
  [
    "evaluations while training that would ask nothing",
    { evaluation: { everySteps: 2, problemsPerDomain: 0 } },
    {
      "evaluation.everySteps":
        "is 2, but evaluation.problemsPerDomain is 0 and there are no evaluation.sets: nothing would be asked",
    },
  ],
  [
    "a field of the recipe itself, said of one of its sections",
    { model: { ...BASE.model, lora: { rank: 8 } } },
    { "model.lora": "is not a field of a recipe -> lora, outside model" },
  ],
  [
    "a model by its name alone",
    { model: "Qwen/Qwen3-0.6B" },
    {
      model:
        'is "Qwen/Qwen3-0.6B"; expected { folder: "<folder, or org/name of the Hub>" }, or { config: { width, layers, heads, mlpWidth } } for a new one, but it is a string',
    },
  ],
  [
    "numbers as text, and out of range",
    { training: { steps: "2", groupsPerStep: -4 } },
    {
      "training.steps": 'is "2"; expected a number, but it is a string',
      "training.groupsPerStep": "is -4; it must be above 0",
    },
  ],
  [
    "a penalty without its buffer",
    { lengthPenalty: { kind: "lp" } },
    {
      "lengthPenalty.bufferTokens":
        'is required with kind "lp": the tokens at the end of the budget over which the penalty grows; without a penalty say kind: "none"',
    },
  ],
  [
    "names of other trainers",
    {
      learning_rate: 1,
      num_generations: 8,
      lora_r: 16,
      torch_dtype: "bf16",
      objective: { beta: 0.1, kind: "ppo" },
    },
    {
      learning_rate: "is not a field of a recipe -> optimizer.lr",
      num_generations: "is not a field of a recipe -> rollouts.groupSize",
      lora_r: "is not a field of a recipe -> lora.rank",
      torch_dtype: "is not a field of a recipe -> model.weightStorage",
      "objective.beta": "is not a field of a recipe -> objective.klCoef",
      "objective.kind":
        'is "ppo"; expected one of "gspo", "grpo", "dapo", "dr-grpo", "ppo-clip", "cispo", "reinforce-clamped", "reinforce", "gspo-token", "gmpo", "sapo", "custom" -> ppo-clip',
    },
  ],
  [
    "what TRL calls several updates, normalisation and a teacher",
    {
      num_iterations: 2,
      steps_per_generation: 4,
      scale_rewards: "group",
      importance_sampling_level: "sequence",
      mask_truncated_completions: true,
      teacher_model_name_or_path: "x",
      ref_model_sync_steps: 4,
      advantages: { divideBy: "group" },
      objective: { kind: "sequence_token" },
    },
    {
      num_iterations: "is not a field of a recipe -> training.epochs",
      steps_per_generation: "is not a field of a recipe -> training.updatesPerBatch",
      scale_rewards: "is not a field of a recipe -> advantages.divideBy",
      importance_sampling_level: "is not a field of a recipe -> objective.kind",
      mask_truncated_completions: "is not a field of a recipe -> advantages.overlong",
      teacher_model_name_or_path: "is not a field of a recipe -> teacher.folder",
      ref_model_sync_steps: "is not a field of a recipe -> objective.referenceEverySteps",
      "advantages.divideBy":
        'is "group"; expected one of "population-std", "sample-std", "batch-std", "domain-std", "none" -> sample-std',
      "objective.kind": expect.stringMatching(/ -> gspo-token$/),
    },
  ],
  [
    "a field in its place is not taken for another's",
    { training: { step: 2, steps: 2, groupsPerStep: 4 } },
    { "training.step": "is not a field of a recipe -> steps" },
  ],
  [
    "one kind of several",
    { trackers: [{ kind: "wandb-online" }] },
    {
      "trackers.0.kind":
        'is "wandb-online"; expected one of "mlflow", "otlp", "wandb", "prometheus", "jsonl"',
    },
  ],
  [
    "a rule keeps its letters",
    { domains: { math: { weight: 1, source: "x", reward: { judge: { url: "localhost:1", model: "x" } } } } },
    {
      "domains.math.reward.judge.url":
        'is "localhost:1"; it must be an http or https address without credentials (apiKeyEnv names the variable with the key)',
    },
  ],
])("%s", (_, changes, expected) => {
  expect(messages({ ...BASE, ...changes })).toEqual(expected);
});
