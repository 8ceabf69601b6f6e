import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { checkRecipe, checkText } from "../../lib/cli/check.ts";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { UNKNOWN_MEMORY } from "../../lib/cli/plan.ts";
import { defineRecipe, overrideRecipe, recipeInput } from "../../lib/config/index.ts";
import { resolveModelFolder } from "../../lib/inference/index.ts";
import { info } from "../../lib/native/index.ts";
import { createRun, whyNotRunnable } from "../../lib/orchestration/index.ts";
import { StandInHub } from "../fixtures/hub-server.ts";
import { temporaryFolder, tinyConfig, tinyModel } from "../fixtures/model-folder.ts";
import { long, longest } from "../long.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";

test("three problems of every domain, the longest prompt, the verifiers, one step, and the memory by its sizes", async () => {
  const recipe = smallRecipe();
  const findings = await checkRecipe(recipe);
  expect(Object.keys(findings.domains)).toEqual(["math", "logic", "code"]);
  for (const found of Object.values(findings.domains)) {
    expect(found.questions).toHaveLength(3);
    expect(found.longestPrompt).toBeLessThanOrEqual(recipe.rollouts.maxPromptTokens);
    expect(found.verifiers.length).toBeGreaterThan(0);
  }
  const bytesOf = (name: string) => findings.plan.roles[0]!.rows.find((row) => row.name === name)!.bytes;
  // 64 contexts of ceil((64 + 24) / 16) pages and one spare page of 16 tokens; one layer, two heads of size 16, keys
  // and values in f32
  expect(bytesOf("keys and values")).toBe(64 * (6 + 1) * 16 * 2 * 16 * 2 * 4);
  expect(bytesOf("optimizer moments, f32")).toBe(findings.plan.network.parameters * 8);
  expect(findings.stages.map(({ name, ok, instead }) => [name, ok, instead])).toEqual(
    ["recipe", "model", "math", "logic", "code", "one step", "memory", "run"].map((name) => [
      name,
      true,
      undefined,
    ]),
  );
  const text = checkText(findings);
  expect(text.match(/^✓ /gm)).toHaveLength(8);
  expect(text.replace(/\s+/g, " ")).toMatch(
    /12 rollouts judged, gradient of norm [\d.e-]+, weights updated and published/,
  );
});

test("a model without a chat template, and rows that do not say how to answer, are warned of", async () => {
  using folder = temporaryFolder();
  const model = await tinyModel(join(folder.path, "model"), tinyConfig({ max_position_embeddings: 512 }));
  writeFileSync(join(model, "tokenizer_config.json"), '{"eos_token": "</s>"}');
  const path = join(folder.path, "rows.jsonl");
  const row = (i: number) => JSON.stringify({ question: `${i} + 1?`, answer: String(i + 1) });
  writeFileSync(path, Array.from({ length: 40 }, (_, i) => row(i)).join("\n"));
  const findings = await checkRecipe(
    defineRecipe({
      name: "base",
      model: { folder: model },
      domains: {
        math: { source: { kind: "jsonl", path }, weight: 3 },
        logic: { source: "procedural/logic" },
      },
      rollouts: { maxOutputTokens: 16, maxPromptTokens: 64 },
      training: { steps: 9, groupsPerStep: 8 },
    }),
  );
  const { warnings, domains } = findings;
  expect(domains["math"]!.passes).toBeCloseTo((9 * 8 * 0.75) / domains["math"]!.report!.training, 12);
  expect(domains["logic"]!.passes).toBeUndefined(); // written, not read
  expect(checkText(findings)).toMatch(/9 steps of 8 groups: 1\.\d passes\s+over its rows, not counting/);
  const many = { ...findings, domains: { math: { ...domains["math"]!, passes: 123.4 } } };
  expect(checkText(many)).toMatch(/9 steps of 8 groups: 120 passes\s/);
  expect(warnings).toContainEqual(expect.stringContaining("has no chat template: prompts are plain text"));
  expect(warnings).toContainEqual(
    expect.stringContaining("math: 40 of 40 questions do not ask for \\boxed{}"),
  );
});

test.each(longest ? ["apriel-15b", "single-gpu"] : ["single-gpu"])(
  "%s is tried without its model and data, says what was tried instead, and that hone run would refuse it here",
  async (name) => {
    const recipe = await loadRecipe(`recipes/${name}.ts`);
    const findings = await checkRecipe(recipe);
    const refused = findings.stages.filter(({ ok }) => !ok);
    expect(refused.map((stage) => stage.name)).toEqual(["run"]);
    expect(refused[0]!.said).toContain("not here: math");
    const fault = whyNotRunnable(recipe, info());
    expect(refused[0]!.said).toContain(fault?.message ?? "");
    if (name === "apriel-15b")
      expect(refused[0]!.said).toContain("hardware.nodes is 8, and this is one machine");
    const instead = Object.fromEntries(
      findings.stages.flatMap((s) => (s.instead ? [[s.name, s.instead]] : [])),
    );
    expect(instead["model"]).toMatch(
      /is not on this machine; its published sizes, random weights and a tokenizer of bytes are used instead$/,
    );
    expect(instead["math"]).toBe(
      "data/open-reasoner-zero is not on this machine; sample rows in the same shape are used instead",
    );
    for (const { questions, report } of Object.values(findings.domains)) {
      expect(questions).toHaveLength(3);
      expect(report?.bad ?? []).toEqual([]);
    }
    const text = checkText(findings);
    for (const said of Object.values(instead)) expect(text.replace(/\s+/g, " ")).toContain(said);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(text.split("\n").length).toBeLessThanOrEqual(60);
  },
  patient(120_000),
);

test.runIf(long)(
  "a recipe that does not fit its card fails with a cross, after everything else was tried",
  async () => {
    const recipe = await loadRecipe("recipes/single-gpu.ts", ["hardware.gpuMemoryGiB=8"]);
    const { stages } = await checkRecipe(recipe);
    expect(stages.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["memory", "run"]);
    expect(stages.at(-2)!.said).toMatch(/needs 20\.\d GiB of 8\.0 GiB/);
  },
  patient(120_000),
);

test.skipIf(info().cuda.devices.length > 0)(
  "a recipe for a GPU that neither it nor this machine knows is refused as hone run does, and says what was not compared",
  async () => {
    const recipe = { ...smallRecipe(), device: "cuda" } as const;
    const { stages } = await checkRecipe(recipe);
    expect(stages.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["run"]);
    await expect(createRun(recipe, { dir: "never-made" })).rejects.toMatchObject({ code: "HONE_ERR_CUDA" });
    const memory = stages.at(-2)!;
    expect(memory).toMatchObject({ name: "memory", instead: UNKNOWN_MEMORY });
    expect(memory.said).toMatch(/^GPU: \d+\.\d GiB \(actor and trainer\)$/);
  },
  patient(60_000),
);

describe("a model of the Hub that no table knows", () => {
  const WEIGHTS = "model.safetensors";
  afterEach(() => vi.unstubAllEnvs());

  /** Starts a Hub that serves the model, with an empty cache, and returns a recipe that names the model. */
  async function onHub(path: string) {
    const model = await tinyModel(join(path, "model"), tinyConfig({ max_position_embeddings: 512 }));
    const names = readdirSync(model).filter((name) => name !== WEIGHTS);
    writeFileSync(
      join(path, "rows.jsonl"),
      Array.from({ length: 40 }, (_, i) =>
        JSON.stringify({ question: `${i} + 1?`, answer: `${i + 1}` }),
      ).join("\n"),
    );
    const files = Object.fromEntries(
      [...names, WEIGHTS].map((name) => [name, readFileSync(join(model, name))]),
    );
    const hub = new StandInHub(files);
    vi.stubEnv("HF_ENDPOINT", await hub.listen());
    vi.stubEnv("HF_HOME", join(path, "hf"));
    const recipe = defineRecipe({
      name: "hub",
      model: { folder: "org/tiny" },
      domains: { math: { source: join(path, "rows.jsonl") } },
      rollouts: { maxOutputTokens: 16, maxPromptTokens: 64 },
      training: { steps: 1 },
    });
    const asked = () => hub.seen.map(({ path: file }) => file.split("/").at(-1)!);
    return { hub, recipe, asked };
  }

  test("is checked by its config, tokenizer and template; its weights are neither there nor downloaded", async () => {
    using folder = temporaryFolder();
    const { hub, recipe, asked } = await onHub(folder.path);
    await using _ = hub;
    const told = ({ stages }: Awaited<ReturnType<typeof checkRecipe>>) =>
      stages.map(({ name, ok, instead }) => [name, ok, instead]);
    const first = await checkRecipe(recipe);
    expect(told(first)).toEqual([
      ["recipe", true, undefined],
      ["model", true, "the weights of org/tiny are not on this machine; random weights are used instead"],
      ["math", true, undefined],
      ["one step", true, undefined],
      ["memory", true, undefined],
      ["run", true, undefined],
    ]);
    expect(first.stages[1]!.said).toContain(", 262 tokens, answers end at 260");
    expect(asked()).toContain("tokenizer.json");
    expect(asked()).not.toContain(WEIGHTS);
    hub.seen.length = 0;
    const again = await checkRecipe(recipe);
    expect(told(again)).toEqual(told(first));
    expect(again.domains["math"]!.longestPrompt).toBe(first.domains["math"]!.longestPrompt);
    expect(asked()).toEqual([]);
  });

  test("is taken from the cache where it is all there, whatever the Hub has by now", async () => {
    using folder = temporaryFolder();
    const { hub, recipe, asked } = await onHub(folder.path);
    await using _ = hub;
    await resolveModelFolder("org/tiny");
    hub.commit = "f".repeat(40);
    hub.files.set(WEIGHTS, Buffer.from("of the next commit"));
    hub.seen.length = 0;
    const { stages } = await checkRecipe(recipe);
    expect(stages.every(({ ok, instead }) => ok && instead === undefined)).toBe(true);
    expect(asked()).toEqual([]);
  });

  test("that the Hub may not be asked for is named, with those that are known", async () => {
    using folder = temporaryFolder();
    const { hub, recipe } = await onHub(folder.path);
    await using _ = hub;
    vi.stubEnv("HF_HUB_OFFLINE", "1");
    await expect(checkRecipe(recipe)).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringContaining("org/tiny is no folder"),
      hint: expect.stringContaining("Qwen/Qwen3-0.6B"),
    });
    vi.stubEnv("HF_HUB_OFFLINE", "");
    hub.token = "needed";
    await expect(checkRecipe(recipe)).rejects.toMatchObject({ code: "HONE_ERR_HUB" });
  });
});

test("a prompt that does not fit is found before a run", async () => {
  const recipe = smallRecipe({}, { rollouts: { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 4 } });
  await expect(checkRecipe(recipe)).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
});

test("prompts that are too long are counted, not fatal, and the longest is of those that can be asked", async () => {
  const recipe = smallRecipe({}, { rollouts: { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 20 } });
  const findings = await checkRecipe(recipe);
  const { math } = findings.domains;
  expect(math!.longestPrompt).toBeLessThanOrEqual(20);
  expect(math!.leftOut).toBeGreaterThan(0);
  expect(checkText(findings)).toContain(`${math!.leftOut} of 32 problems are too long to prompt`);
});

test("validation sets are tried like domains, and rows that are not there are named", async () => {
  const withSet = (source: string) => smallRecipe({}, { evaluation: { sets: { more: { source } } } });
  const findings = await checkRecipe(withSet("procedural/instruction-following"));
  expect(findings.domains["more"]).toMatchObject({ looked: 32, leftOut: 0 });
  expect(findings.stages.find(({ name }) => name === "more")).toMatchObject({ ok: true });
  await expect(checkRecipe(withSet("jsonl:/nowhere.jsonl"))).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: "evaluation.sets.more.source: there is no data at /nowhere.jsonl",
  });
});

test("a demonstration longer than the answer's budget is found before a run", async () => {
  const input = recipeInput(smallRecipe());
  const recipe = defineRecipe({ ...input, warmStart: { steps: 100, mixture: { logic: 1 } } });
  await expect(checkRecipe(recipe)).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringMatching(
      /demonstration of level \d takes \d+ tokens, rollouts\.maxOutputTokens is 24/,
    ),
  });
});

test("an environment is tried before a run, in the step too, and what it throws is told", async () => {
  const domain = (step: () => { observation: string }) => ({
    math: {
      weight: 1,
      source: "procedural/math",
      environment: { reset: () => ({}), step, score: () => 0 },
      episode: { maxTurns: 2, maxTurnTokens: 4 },
    },
  });
  const { stages } = await checkRecipe(smallRecipe({}, { domains: domain(() => ({ observation: "ok" })) }));
  expect(stages.map(({ name, ok }) => [name, ok])).toContainEqual(["one step", true]);
  expect(stages.find(({ name }) => name === "math")!.said).toContain("environment:math");
  const down = () => {
    throw new Error("down");
  };
  await expect(checkRecipe(smallRecipe({}, { domains: domain(down) }))).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringContaining("down"),
  });
});

test.runIf(long)(
  "a run that is all warm-up is warned of",
  async () => {
    const recipe = overrideRecipe(smallRecipe(), [
      "optimizer.warmupSteps=50",
      "training.steps=20",
      "optimizer.lr=1e-6",
    ]);
    expect(checkText(await checkRecipe(recipe)).replace(/\s+/g, " ")).toContain(
      "warning: optimizer.warmupSteps is 50 and the run has 20 steps: it is all warm-up, and the learning rate ends at 4.0e-7 instead of 0.000001",
    );
  },
  patient(60_000),
);
