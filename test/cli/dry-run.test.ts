// Mutant tried, killed: a missing answer counts as right.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { rehearse, rehearseStep } from "../../lib/cli/dry-run.ts";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { temporaryFolder, tinyConfig, tinyModel, writeModelFiles } from "../fixtures/model-folder.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const recipeOf = (change: Partial<RecipeInput>) =>
  defineRecipe({
    name: "r",
    model: { folder: "Qwen/Qwen3-0.6B", weightStorage: "bf16" },
    domains: {
      math: { weight: 2, source: { kind: "open-reasoner-zero", path: "no/such", template: "Solve: {task}" } },
    },
    rollouts: { maxOutputTokens: 100, maxPromptTokens: 100, stopIds: [151_645] },
    lengthPenalty: { bufferTokens: 50 },
    training: { steps: 9, groupsPerStep: 64 },
    device: "cuda",
    ...change,
  });

test("what is missing is replaced and named; the rest of the recipe stays", async () => {
  const recipe = recipeOf({});
  let folder = "";
  {
    await using rehearsal = await rehearse(recipe);
    expect([...rehearsal.missing.keys()]).toEqual(["model", "math"]);
    folder = rehearsal.recipe.model.folder!;
    expect(existsSync(join(folder, "model.safetensors"))).toBe(true);
    const { source } = rehearsal.recipe.domains["math"]!;
    expect(source).toMatchObject({ kind: "open-reasoner-zero", template: "Solve: {task}" });
    expect(existsSync((source as { path: string }).path)).toBe(true);
    expect(rehearsal.recipe.rollouts).toMatchObject({ maxOutputTokens: 100, maxPromptTokens: 800 });
    expect(rehearsal.recipe.rollouts.stopIds).toBeUndefined();
    expect(rehearsal.recipe.training).toEqual(recipe.training);
    expect(rehearsal.small.training).toMatchObject({ steps: 1, groupsPerStep: 1, schedule: "sync" });
    expect([rehearsal.recipe.device, rehearsal.small.device]).toEqual(["cuda", "cpu"]);
    expect(rehearsal.small.objective).toEqual(recipe.objective);
  }
  expect(existsSync(dirname(folder))).toBe(false);
});

test("a model and data that are here are used as they are; the step has two layers of it", async () => {
  using folder = temporaryFolder();
  const model = await tinyModel(join(folder.path, "m"), tinyConfig({ num_hidden_layers: 3 }));
  const path = join(folder.path, "rows.jsonl");
  mkdirSync(folder.path, { recursive: true });
  writeFileSync(path, JSON.stringify([{ value: "1+1?" }, { ground_truth: { value: "2" } }]));
  const recipe = recipeOf({
    model: { folder: model },
    domains: { math: { weight: 1, source: { kind: "open-reasoner-zero", path } } },
    rollouts: { maxOutputTokens: 100, maxPromptTokens: 100 },
  });
  await using rehearsal = await rehearse(recipe);
  expect(rehearsal.missing.size).toBe(0);
  expect(rehearsal.recipe.model.folder).toBe(model);
  expect(rehearsal.recipe.domains["math"]!.source).toEqual({ kind: "open-reasoner-zero", path });
  expect(rehearsal.small.model.folder).not.toBe(model);
  expect(rehearsal.small.rollouts.maxPromptTokens).toBe(100);
});

test("a folder without weights is tried with random ones, and says so", async () => {
  using folder = temporaryFolder();
  writeModelFiles(folder.path);
  await using rehearsal = await rehearse(recipeOf({ model: { folder: folder.path } }));
  expect(rehearsal.missing.get("model")).toBe(
    `the weights of ${folder.path} are not on this machine; random weights are used instead`,
  );
  expect(rehearsal.required.has("model")).toBe(true);
});

test("a folder that is here is no model of the Hub, even if its path has the form of a name there", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "models/mine"), { recursive: true });
  writeModelFiles(join(folder.path, "models/mine"));
  const start = process.cwd();
  process.chdir(folder.path);
  try {
    await using rehearsal = await rehearse(recipeOf({ model: { folder: "models/mine" } }));
    expect(rehearsal.required.has("model")).toBe(true);
  } finally {
    process.chdir(start);
  }
});

test("data nobody has rows for, and a model nobody knows, are errors", async () => {
  const gone = { math: { weight: 1, source: { kind: "aime", path: "no/such" } } } as const;
  await expect(rehearse(recipeOf({ domains: gone }))).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: "domains.math.source: there is no data at no/such",
  });
  vi.stubEnv("HF_HUB_OFFLINE", "1");
  try {
    await expect(rehearse(recipeOf({ model: { folder: "no/body" } }))).rejects.toMatchObject({
      code: "HONE_ERR_IO",
    });
  } finally {
    vi.unstubAllEnvs();
  }
});

test("the step trains on advantages that differ, whatever the model answers; an outage is an error", async () => {
  // without a length penalty rollouts of a group differ only by their verdicts
  const lengthPenalty = { kind: "none", bufferTokens: 20 } as const;
  await using rehearsal = await rehearse(smallRecipe({}, { lengthPenalty }));
  const wrong = { status: "wrong", score: 0, reason: "" } as const;
  const stats = () => ({}) as never;
  const verify = async (cases: readonly unknown[]) => cases.map(() => wrong);
  const record = await rehearseStep(rehearsal.small, { stats, verify } as never);
  expect(record.version).toBe(1);
  expect(record.metrics["grad/norm"]).toBeGreaterThan(0);
  const outage = async (cases: readonly unknown[]) =>
    cases.map(() => ({ status: "unscored", cause: "down" }));
  await expect(rehearseStep(rehearsal.small, { stats, verify: outage } as never)).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: "an answer cannot be judged: down",
  });
});

test("answers shorter than those of a dry run stay as short, and so does the model's context", async () => {
  const short = smallRecipe(
    {},
    {
      model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 68 } },
      rollouts: { maxOutputTokens: 4, maxPromptTokens: 64 },
      lengthPenalty: { kind: "none" },
    },
  );
  await using rehearsal = await rehearse(short);
  expect(rehearsal.small.rollouts.maxOutputTokens).toBe(4);
});

test("a new model keeps two layers, a hybrid as many as it needs for one that attends", async () => {
  const sizes = { width: 32, layers: 6, heads: 2, mlpWidth: 64 };
  const layersOf = async (parts: object) => {
    await using rehearsal = await rehearse(smallRecipe({}, { model: { config: { ...sizes, ...parts } } }));
    return rehearsal.small.model.config!.layers;
  };
  expect([await layersOf({}), await layersOf({ attentionEvery: 3 })]).toEqual([2, 3]);
});

test("the step reads the beginning of a large file of rows, and whole rows of it", async () => {
  using folder = temporaryFolder();
  mkdirSync(folder.path, { recursive: true });
  const row = (i: number) => JSON.stringify({ prompt: `${i} + 1 = ?`.padEnd(100), answer: String(i + 1) });
  const path = join(folder.path, "rows.jsonl");
  writeFileSync(path, Array.from({ length: 20_000 }, (_, i) => `${row(i)}\n`).join(""));
  const source = { kind: "jsonl", path, heldOut: 5000 } as const;
  await using rehearsal = await rehearse(recipeOf({ domains: { math: { weight: 1, source } } }));
  expect(rehearsal.recipe.domains["math"]!.source).toMatchObject(source);
  const few = rehearsal.small.domains["math"]!.source as { path: string; heldOut?: unknown };
  expect([few.path === path, few.heldOut]).toEqual([false, undefined]);
  const lines = readFileSync(few.path, "utf8").trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(5000);
  expect(lines.length).toBeLessThan(20_000);
  expect(lines.at(-1)).toBe(row(lines.length - 1));
  await using alone = await rehearse(recipeOf({ domains: { math: { weight: 1, source: path } } }));
  const beginning = alone.small.domains["math"]!.source as string;
  expect(beginning).not.toBe(path);
  expect(readFileSync(beginning, "utf8").trimEnd().split("\n")).toEqual(lines);
});
