import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { explainStep } from "../../lib/explain/index.ts";
import { Trainer } from "../../lib/native/index.ts";
import {
  createRun,
  decodeIds,
  decodeLogprobs,
  type RecordedGroup,
  readRolloutRecord,
  replayRun,
} from "../../lib/orchestration/index.ts";
import type { StepRecord } from "../../lib/records.ts";
import { teacherFolder } from "../fixtures/teacher-folder.ts";
import { longest } from "../long.ts";
import { optimizer } from "../native/small-model.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

let root: string;
let folder: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "hone-distillation-"));
  if (noAddon === undefined) folder = await teacherFolder(join(root, "teacher"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const recipeOf = (training: Partial<RecipeInput["training"]>, rest: Partial<RecipeInput> = {}) => {
  const { advantages: _, lengthPenalty: __, ...input } = tinyInput({ groupsPerStep: 4, ...training });
  return defineRecipe({
    ...input,
    objective: { kind: "dapo", clipLow: 0.2, clipHigh: 0.28 },
    teacher: { folder },
    rollouts: { ...input.rollouts, record: true },
    checkpoint: { everySteps: 2, keepLast: 10 },
    ...rest,
  });
};

async function train(dir: string, recipe: ReturnType<typeof recipeOf>, resume = false): Promise<string> {
  await using run = await createRun(recipe, {
    dir,
    verifiers,
    ...(resume ? { resume: "auto" as const } : { overwrite: true }),
  });
  await run.finished;
  return readFileSync(join(dir, "events.jsonl"), "utf8").trim().split("\n").at(-1)!;
}

const metricsOf = (dir: string) =>
  readFileSync(join(dir, "steps.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as StepRecord).metrics);

describe.skipIf(noAddon !== undefined)("a run with a teacher", () => {
  test("comes closer to it, from groups whose scores are all equal too", async () => {
    const dir = join(root, "closer");
    await train(dir, recipeOf({ steps: 24, schedule: "sync" }, { optimizer: { lr: 5e-3, warmupSteps: 1 } }));
    const kl = metricsOf(dir).map((metrics) => metrics["kl/teacher/k1"]!);
    const [first, last] = [kl.slice(0, 3), kl.slice(-3)].map((some) => some.reduce((a, b) => a + b) / 3);
    expect(first).toBeGreaterThan(0.5);
    expect(last).toBeLessThan(first! / 2);
    for (const metrics of metricsOf(dir)) expect(metrics["groups/kept"]).toBe(1);
  });

  test("records the teacher's log-probs of every trained token, as a scorer of this test has them", async () => {
    const dir = join(root, "recorded");
    await train(dir, recipeOf({ steps: 1, schedule: "sync" }));
    const config = readFileSync(join(folder, "config.json"), "utf8");
    const scorer = new Trainer(config, { optimizer, packedTokens: 512, weightStorage: "f32" });
    await scorer.loadHf(folder);
    let compared = 0;
    for await (const line of readRolloutRecord(dir, 1)) {
      const group = line as RecordedGroup;
      if (group.rollouts === undefined) continue;
      const prompt = decodeIds(group.prompt);
      for (const { tokens: response, teacher } of group.rollouts) {
        const tokens = Int32Array.of(...prompt, ...decodeIds(response));
        const mask = new Uint8Array(tokens.length).fill(1, prompt.length);
        const { logprobs } = await scorer.score(
          { tokens, mask, cuSeqlens: Int32Array.of(0, tokens.length) },
          1,
        );
        expect(decodeLogprobs(teacher!)).toEqual(logprobs.slice(prompt.length));
        compared += 1;
      }
    }
    await scorer.close();
    expect(compared).toBe(16);
  });

  test("is replayed to the bit where it was asynchronous, with several updates and the reward beside the teacher", async () => {
    const dir = join(root, "replayed");
    const teacher = { folder, coef: 0.5, rewardCoef: 1 };
    await train(dir, recipeOf({ steps: 4, maxLag: 2, updatesPerBatch: 2 }, { teacher }));
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 4, weightsCompared: true });
  });

  const DIVERGENCES: [string, object][] = [
    ["Jensen-Shannon divergence", {}],
    ["reverse KL over its 8 likeliest tokens", { beta: 1, topK: 8 }],
    ["forward KL", { beta: 0 }],
  ];
  describe.each(longest ? DIVERGENCES : DIVERGENCES.slice(0, 2))("by %s", (_, divergence) => {
    const teacher = () => ({ folder, divergence });

    test("comes closer to it, by an objective of sequences too", async () => {
      const dir = join(root, "diverging");
      const rest = { objective: { kind: "gspo" }, optimizer: { lr: 5e-3, warmupSteps: 1 } } as const;
      await train(dir, recipeOf({ steps: 24, schedule: "sync" }, { ...rest, teacher: teacher() }));
      const far = metricsOf(dir).map((metrics) => metrics["kl/teacher/divergence"]!);
      const [first, last] = [far.slice(0, 3), far.slice(-3)].map((some) => some.reduce((a, b) => a + b) / 3);
      expect(first).toBeGreaterThan(0.02);
      expect(last).toBeLessThan(first! / 2);
      for (const metrics of metricsOf(dir)) expect(metrics["loss/policy"]).toBeCloseTo(0, 12);
    });

    test("is replayed to the bit where it was asynchronous, with updates, epochs and the reward beside it", async () => {
      const dir = join(root, "replayed-divergence");
      const given = { ...teacher(), coef: 0.5, rewardCoef: 1 };
      await train(dir, recipeOf({ steps: 4, maxLag: 2, updatesPerBatch: 2, epochs: 2 }, { teacher: given }));
      expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 4, weightsCompared: true });
    });

    test("goes on from a checkpoint as one that was not interrupted", async () => {
      const of = (steps: number) => recipeOf({ steps, schedule: "sync" }, { teacher: teacher() });
      const straight = await train(join(root, "straight-divergence"), of(4));
      const dir = join(root, "resumed-divergence");
      await train(dir, of(2));
      expect(await train(dir, of(4), true)).toBe(straight);
    });

    test("is explained, by the same loss and gradient as in the run, of steps that are trained again on the way too", async () => {
      const dir = join(root, "explained-divergence");
      const rest = { teacher: { ...teacher(), rewardCoef: 1 }, checkpoint: { everySteps: 4 } };
      await train(dir, recipeOf({ steps: 3, schedule: "sync", updatesPerBatch: 2 }, rest));
      const groups: RecordedGroup[] = [];
      for await (const line of readRolloutRecord(dir, 3))
        if (!("schema" in line)) groups.push(line as RecordedGroup);
      const { problem, rollouts } = groups.at(-1)!;
      const { attempt, divergence } = rollouts[0]!;
      const { settings } = await explainStep(dir, { step: 3, problem, attempt });
      const told = settings[0]!.tokens.map((token) => token.divergence!);
      expect(told).toEqual([...decodeLogprobs(divergence!)]);
      expect(Math.max(...told)).toBeGreaterThan(0);
    });
  });

  test("goes on from a checkpoint as one that was not interrupted, and not with another teacher", async () => {
    const of = (steps: number) => recipeOf({ steps, schedule: "sync" });
    const straight = await train(join(root, "straight"), of(4));
    const dir = join(root, "resumed");
    await train(dir, of(2));
    expect(await train(dir, of(4), true)).toBe(straight);
    const config = join(folder, "config.json");
    const kept = readFileSync(config, "utf8");
    writeFileSync(config, kept.replace("{", "{ "));
    await expect(train(dir, of(6), true)).rejects.toThrow(/^teacher\.folder: .*config\.json differ/);
    await expect(replayRun(dir, { verifiers })).rejects.toThrow(/^teacher\.folder: .*config\.json differ/);
    writeFileSync(config, kept);
  });

  test("trains adapters, and a run of them is replayed to the bit", async () => {
    const dir = join(root, "adapters");
    await train(dir, recipeOf({ steps: 3 }, { lora: { rank: 8 }, optimizer: { lr: 1e-2, warmupSteps: 1 } }));
    for (const metrics of metricsOf(dir)) expect(metrics["grad/norm"]).toBeGreaterThan(0);
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 3, weightsCompared: true });
  });
});
