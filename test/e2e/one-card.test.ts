// Tests settings that fit a model on a smaller card, in whole runs.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exportRun, exportRunAdapters } from "../../lib/cli/export-run.ts";
import { linkedModel, runCheckpoint } from "../../lib/cli/run-model.ts";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { loadModel, scoreSequences } from "../../lib/inference/index.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/weights-hash.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const native = test.skipIf(noAddon !== undefined);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-one-card-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Trains some synchronous steps; returns the hash of the weights, and the losses. */
async function trained(name: string, changes: Partial<RecipeInput>) {
  const recipe = defineRecipe({ ...tinyInput({ schedule: "sync", steps: 4 }), device: "cpu", ...changes });
  const losses: (number | undefined)[] = [];
  {
    await using run = await createRun(recipe, { dir: join(dir, name), verifiers });
    for await (const { metrics } of run) losses.push(metrics["loss/total"]);
  }
  return { losses, hash: weightsHash(join(dir, name, "checkpoints", "step-000004")) };
}

native(
  "a run that computes activations again ends with the bits of one that keeps them",
  async () => {
    const hardware = { gpu: "none", gpuMemoryGiB: 1 };
    const kept = await trained("kept", { hardware });
    const again = await trained("again", { hardware: { ...hardware, recompute: true } });
    expect(again).toEqual(kept);
    expect(kept.hash).toMatch(/^[0-9a-f]{64}/);
  },
  patient(60_000),
);

const LORA = { rank: 4, alpha: 8 };
const nowhere = async (name: string) => {
  throw new Error(`${name} is not asked for`);
};

native(
  "on policy a run of adapters samples what its trainer computes, to the bit; checkpoints hold A and B alone",
  async () => {
    const recipe = defineRecipe({ ...tinyInput({ schedule: "sync", steps: 4 }), lora: LORA });
    await using run = await createRun(recipe, { dir, verifiers });
    for await (const { metrics } of run) {
      if (metrics["trained/tokens"] === undefined) continue;
      expect(metrics).toMatchObject({ "ratio/min": 1, "ratio/max": 1, "mismatch/lag0/max": 0 });
    }
    expect(readdirSync(join(dir, "checkpoints/step-000004")).sort()).toEqual([
      "adapter_config.json",
      "adapter_model.safetensors",
      "config.json",
      "manifest.json",
      "optimizer.safetensors",
    ]);
    expect(existsSync(join(dir, "checkpoints/warm-start/model.safetensors"))).toBe(true);
  },
  patient(60_000),
);

native(
  "a run of adapters goes on from its checkpoint with the bits of an uninterrupted one",
  async () => {
    const whole = await trained("whole", { lora: LORA });
    const input = (steps: number) =>
      defineRecipe({
        ...tinyInput({ schedule: "sync", steps }),
        device: "cpu",
        lora: LORA,
        checkpoint: { everySteps: 2 },
      });
    const parts = join(dir, "parts");
    for (const [steps, resume] of [
      [2, "never"],
      [4, "auto"],
    ] as const) {
      await using run = await createRun(input(steps), { dir: parts, verifiers, resume });
      await run.finished;
    }
    expect(weightsHash(join(parts, "checkpoints/step-000004"))).toBe(whole.hash);
  },
  patient(60_000),
);

native(
  "an asynchronous run of adapters with a reference policy replays to the bit",
  async () => {
    const recipe = defineRecipe({
      ...tinyInput({ maxLag: 2, steps: 6 }),
      lora: LORA,
      objective: { klCoef: 0.05 },
    });
    {
      await using run = await createRun(recipe, { dir, verifiers });
      for await (const _ of run);
      await using pinned = await run.pin(join(dir, "checkpoints/step-000006"));
      expect(pinned.version).toBe(6);
    }
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 6, weightsCompared: true });
  },
  patient(60_000),
);

const ROUNDED = { lr: 2e-4, moments: "bf16" } as const;

native.each([
  ["all weights", {}],
  ["adapters", { lora: LORA }],
])(
  "moments in bf16 of %s go on from a checkpoint with the bits of an uninterrupted run",
  async (_, rest) => {
    const changes = { optimizer: ROUNDED, ...rest };
    const whole = await trained("whole", changes);
    const exact = await trained("exact", { optimizer: { ...ROUNDED, moments: "f32" }, ...rest });
    expect(whole.hash).not.toBe(exact.hash);
    const input = (steps: number, optimizer: RecipeInput["optimizer"] = ROUNDED) =>
      defineRecipe({
        ...tinyInput({ schedule: "sync", steps }),
        device: "cpu",
        checkpoint: { everySteps: 2 },
        ...rest,
        optimizer,
      });
    const parts = join(dir, "parts");
    const sit = async (recipe: ReturnType<typeof input>, resume: "never" | "auto") => {
      await using run = await createRun(recipe, { dir: parts, verifiers, resume });
      await run.finished;
    };
    await sit(input(2), "never");
    await expect(sit(input(4, { ...ROUNDED, moments: "f32" }), "auto")).rejects.toMatchObject({
      code: "HONE_ERR_CONFIG",
      message: expect.stringContaining("saved with moments in bf16, the trainer keeps them in f32"),
    });
    await sit(input(4), "auto");
    expect(weightsHash(join(parts, "checkpoints/step-000004"))).toBe(whole.hash);
  },
  patient(60_000),
);

native(
  "an asynchronous run with moments in bf16 replays to the bit, also from weights of a run that kept f32",
  async () => {
    await trained("exact", {});
    const startFrom = join(dir, "exact", "checkpoints", "step-000004");
    const recipe = defineRecipe({ ...tinyInput({ maxLag: 2, steps: 6 }), optimizer: ROUNDED });
    const folder = join(dir, "rounded");
    {
      await using run = await createRun(recipe, { dir: folder, verifiers, startFrom });
      for await (const _ of run);
    }
    expect(weightsHash(join(folder, "checkpoints/warm-start"))).toBe(weightsHash(startFrom));
    expect(await replayRun(folder, { verifiers })).toMatchObject({ steps: 6, weightsCompared: true });
  },
  patient(60_000),
);

native(
  "a run begins with the weights of a model folder of its sizes, and replays from them",
  async () => {
    await trained("first", {});
    const step = join(dir, "first", "checkpoints", "step-000004");
    const folder = join(dir, "weights");
    mkdirSync(folder);
    for (const name of ["config.json", "model.safetensors"]) cpSync(join(step, name), join(folder, name));
    const recipe = defineRecipe(tinyInput({ maxLag: 1, steps: 3 }));
    const run = join(dir, "second");
    {
      await using started = await createRun(recipe, { dir: run, verifiers, startFrom: folder });
      for await (const _ of started);
    }
    expect(weightsHash(join(run, "checkpoints/warm-start"))).toBe(weightsHash(step));
    expect(await replayRun(run, { verifiers })).toMatchObject({ steps: 3, weightsCompared: true });
  },
  patient(60_000),
);

native(
  "a run of adapters is written for PEFT, or merged, with one and the same numbers",
  async () => {
    await trained("run", { lora: { ...LORA, targets: ["q_proj", "down_proj"] } });
    const run = join(dir, "run");
    const peft = join(dir, "peft");
    await exportRunAdapters({ run, target: peft }, nowhere);
    const config = JSON.parse(readFileSync(join(peft, "adapter_config.json"), "utf8"));
    expect(config).toMatchObject({
      peft_type: "LORA",
      r: 4,
      lora_alpha: 8,
      target_modules: ["q_proj", "down_proj"],
    });
    expect(existsSync(join(config.base_model_name_or_path, "model.safetensors"))).toBe(true);
    const header = readFileSync(join(peft, "adapter_model.safetensors")).toString("latin1");
    expect(header).toContain('"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"');
    await exportRun({ run, target: join(dir, "merged") }, nowhere);
    const linked = await linkedModel(runCheckpoint(run)!, nowhere);
    const scored: string[] = [];
    for (const folder of [join(dir, "merged"), linked, config.base_model_name_or_path as string]) {
      await using model = await loadModel(folder, { device: "cpu" });
      const { vocabulary, maxPositions } = model;
      const options = { temperature: 1, vocabulary, maxPositions };
      scored.push(JSON.stringify(await scoreSequences(model.weights, [[5, 9, 17, 30, 2, 8]], options)));
    }
    expect(scored[1]).toBe(scored[0]);
    expect(scored[2]).not.toBe(scored[0]);
    const wrong = exportRunAdapters({ run, target: join(dir, "x"), dtype: "bf16" }, nowhere);
    await expect(wrong).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
  },
  patient(60_000),
);
