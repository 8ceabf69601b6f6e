import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkpointOf, linkedModel, runCheckpoint } from "../../lib/cli/run-model.ts";
import { defineRecipe } from "../../lib/config/index.ts";
import { writeRunManifest } from "../../lib/metrics/index.ts";
import { minimal } from "../config/recipes.ts";

let dir: string;
let run: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-run-model-"));
  run = join(dir, "run");
  for (const name of ["step-000002", "step-000010", "warm-start"]) {
    mkdirSync(join(run, "checkpoints", name), { recursive: true });
    for (const file of ["manifest.json", "model.safetensors", "optimizer.safetensors"])
      writeFileSync(join(run, "checkpoints", name, file), name);
  }
  const config = { ...defineRecipe(minimal()), tokenizer: "model", model: { folder: "org/base" } };
  writeRunManifest(run, { name: "r", config, seeds: {}, versions: {} });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a run is found by its folder, with the newest step or the one that is named", () => {
  expect(runCheckpoint(run)).toMatchObject({ run, checkpoint: join(run, "checkpoints/step-000010") });
  expect(runCheckpoint(run, "warm-start")!.checkpoint).toBe(join(run, "checkpoints/warm-start"));
});

test("and by one of its checkpoints", () => {
  const path = join(run, "checkpoints/step-000002");
  expect(runCheckpoint(path)).toMatchObject({ run, checkpoint: path });
});

test("another folder is no run", () => {
  expect(runCheckpoint(dir)).toBeUndefined();
  expect(runCheckpoint(join(dir, "none"))).toBeUndefined();
});

test("a checkpoint that is not there is named, with those that are", () => {
  expect(() => checkpointOf(run, "step-000003")).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_CHECKPOINT",
      message: `${join(run, "checkpoints")} has no step-000003`,
      hint: "The run has step-000002, step-000010, warm-start.",
    }) as Error,
  );
});

test("its model is links to the weights and to the base's texts, nothing else of either", async () => {
  const base = join(dir, "base");
  mkdirSync(base);
  for (const name of ["tokenizer.json", "chat_template.jinja", "README.md", "model.safetensors"])
    writeFileSync(join(base, name), "base");
  const folder = await linkedModel(runCheckpoint(run)!, async (name) => {
    expect(name).toBe("org/base");
    return base;
  });
  expect(readdirSync(folder).sort()).toEqual(["chat_template.jinja", "model.safetensors", "tokenizer.json"]);
  expect(lstatSync(join(folder, "model.safetensors")).isSymbolicLink()).toBe(true);
  expect(existsSync(join(folder, "tokenizer.json"))).toBe(true);
  rmSync(folder, { recursive: true });
});
