// The quick start's initial weights: its warm start with seed 0 makes the same.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { noAddon } from "../e2e/native-core.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";

const START = "recipes/quickstart-start";
const WEIGHTS = "58d108b028bac2ce5ff8f60f06d98cef2d3c19f91ae36e697b1a5cfa76ae45a4";
const sha256 = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

test("they are the weights that were measured, of a model of the recipe's sizes", async () => {
  expect(sha256(`${START}/model.safetensors`)).toBe(WEIGHTS);
  const { width, layers, heads, headDim, mlpWidth } = (await loadRecipe("recipes/quickstart.ts")).model
    .config!;
  expect(JSON.parse(readFileSync(`${START}/config.json`, "utf8"))).toMatchObject({
    hidden_size: width,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    head_dim: headDim,
    intermediate_size: mlpWidth,
  });
});

test.skipIf(noAddon !== undefined || !longest)(
  "the quick start's warm start with seed 0 makes them again, to the bit",
  () => {
    const dir = mkdtempSync(join(tmpdir(), "hone-quickstart-start-"));
    const settings = ["training.steps=0", "evaluation.problemsPerDomain=1"].flatMap((set) => ["--set", set]);
    try {
      const args = ["dist/recipes/quickstart.js", "--from-scratch", "--dir", dir, ...settings];
      execFileSync(process.execPath, args, { stdio: "pipe" });
      expect(sha256(join(dir, "checkpoints/warm-start/model.safetensors"))).toBe(WEIGHTS);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
  patient(300_000),
);
