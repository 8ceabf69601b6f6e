import { expect, test } from "vitest";
import { changed, issuesOf } from "./recipes.ts";

test.each([
  [
    "clip range upside down",
    { "objective.clipHigh": 1e-3 },
    "objective.clipHigh",
    "below objective.clipLow 0.003",
  ],
  [
    "ratio below zero",
    { "objective.clipLow": 1.5, "objective.clipHigh": 2 },
    "objective.clipLow",
    "it must be at most 1",
  ],
  [
    "a gap of probabilities that none passes",
    { "objective.correction": { kind: "dppo-tv", high: 1.2 } },
    "objective.correction",
    "has a bound of 1.2",
  ],
  [
    "a reference that nothing asks for",
    { "objective.referenceEverySteps": 5 },
    "objective.referenceEverySteps",
    "klCoef is 0",
  ],
  [
    "a coefficient outside of its control",
    { "objective.entropyControl": { target: 1, min: 0.1 } },
    "objective.entropyControl",
    "its first value, is 0",
  ],
  [
    "a band of covariances upside down",
    { "objective.tokens": { kind: "clip-cov", low: 5, high: 1 } },
    "objective.tokens.low",
    "is 5, not below objective.tokens.high 1",
  ],
  ["a gate that nothing has", { "objective.gate": {} }, "objective.gate", 'belongs to objective.kind "sapo"'],
  [
    "the best of as many as there are",
    { "advantages.passAt": 8 },
    "advantages.passAt",
    "is 8; it must be below rollouts.groupSize 8",
  ],
  [
    "a batch's mean over a group's deviation",
    { "advantages.baseline": "batch-mean" },
    "advantages.baseline",
    'advantages.divideBy "population-std" is the deviation of one group',
  ],
  [
    "a domain's mean beside the best of k",
    { "advantages.baseline": "domain-mean", "advantages.divideBy": "none", "advantages.passAt": 2 },
    "advantages.baseline",
    "advantages.passAt 2 has a baseline of its own",
  ],
  [
    "rewards normalised one by one where there is one",
    { "advantages.combine": "advantages" },
    "advantages.combine",
    "no domain has several rewards",
  ],
  [
    "rewards normalised one by one beside the best of k",
    { "advantages.combine": "advantages", "advantages.passAt": 2 },
    "advantages.combine",
    "does not work with advantages.passAt",
  ],
  [
    "rewards normalised one by one beside a table",
    { "advantages.combine": "advantages", "reward.table": "success_and_format" },
    "advantages.combine",
    'reward.table must be "score"',
  ],
  [
    "a correction without a bound",
    { "objective.correction": { kind: "icepop", low: 0.5 } },
    "objective.correction.high",
    'is required with kind "icepop"',
  ],
  [
    "a band upside down",
    { "objective.correction": { kind: "icepop", low: 5, high: 0.5 } },
    "objective.correction.low",
    "is 5, not below objective.correction.high 0.5",
  ],
  [
    "an empty band",
    { "objective.correction": { kind: "sequence-mask", low: 1, high: 1 } },
    "objective.correction.low",
    "is 1, not below objective.correction.high 1",
  ],
  [
    "a band without 1",
    { "objective.correction": { kind: "geometric-mask", low: 0.5, high: 0.99 } },
    "objective.correction",
    "leaves out 1",
  ],
  [
    "terms about routers where ranks divide sequences",
    {
      "objective.router": { zCoef: 0.1 },
      "hardware.processes": { actors: 1, trainers: 3 },
      "hardware.sharding": { sequence: 3 },
    },
    "objective.router",
    "hardware.sharding.sequence 3 divides",
  ],
  ["an odd head", { "model.config.headDim": 33 }, "model.config.headDim", "must be even"],
  [
    "wrong and endless demonstrations",
    {
      "warmStart.steps": 1,
      "warmStart.mixture.math": 1,
      "warmStart.wrongRate": 0.6,
      "warmStart.endlessRate": 0.5,
    },
    "warmStart.wrongRate",
    "is more than 1",
  ],
  [
    "actors alone",
    { hardware: { gpus: 4, actorGpus: 4, gpu: "H100", gpuMemoryGiB: 80 } },
    "hardware.actorGpus",
    "at least one has to train",
  ],
  [
    "more nodes than processes",
    { hardware: { nodes: 4, processes: { actors: 2, trainers: 1 } } },
    "hardware.nodes",
    "more than its 3 processes",
  ],
  [
    "nodes of nobody",
    { hardware: { nodes: 2, gpus: 16 } },
    "hardware.nodes",
    "neither processes nor actorGpus",
  ],
  [
    "buffer above budget",
    { "lengthPenalty.bufferTokens": 81 },
    "lengthPenalty.bufferTokens",
    "maxOutputTokens 80",
  ],
  ["a step could never fill", { "training.credits": 31 }, "training.credits", "groupsPerStep 32"],
  ["credits beyond the lag", { "training.credits": 65 }, "training.credits", "= 64"],
  ["no model", { model: {} }, "model", "neither folder nor config"],
  ["two models", { "model.folder": "m" }, "model", "both folder and config"],
  ["a new model's own tokenizer", { tokenizer: "model" }, "tokenizer", "model.folder"],
  ["a chat without marks", { chatTemplate: { system: "Be brief." } }, "chatTemplate", "lexicon/quickstart"],
  [
    "a template for words alone",
    { model: { folder: "m" }, tokenizer: "model", chatTemplate: { plain: true, file: "t.jinja" } },
    "chatTemplate.plain",
    "no template",
  ],
  ["no domain", { domains: {} }, "domains", "empty"],
  ["context too small", { "model.config.maxPositions": 100 }, "model.config.maxPositions", "128"],
  ["heads do not divide", { "model.config.heads": 5 }, "model.config.heads", "divide width 96"],
  ["kv heads do not divide", { "model.config.kvHeads": 2 }, "model.config.kvHeads", "heads 3"],
  ["cache below one context", { "engine.pages": 7 }, "engine.pages", "128 tokens"],
  [
    "demonstrations of an unknown domain",
    { "warmStart.steps": 1, "warmStart.mixture.cooking": 1 },
    "warmStart.mixture",
    "cooking",
  ],
])("cross check: %s", (_, changes, path, message) => {
  expect(issuesOf(changed(changes))).toEqual([{ path, message: expect.stringContaining(message) }]);
});

test("a rule that reads a broken field is silent", () => {
  const issues = issuesOf(changed({ "objective.clipLow": "small", "objective.clipHigh": 1e-9 }));
  expect(issues.map(({ path }) => path)).toEqual(["objective.clipLow"]);
});

test("as many credits as groups a step are enough", () => {
  expect(issuesOf(changed({ "training.credits": 32 }))).toEqual([]);
});
