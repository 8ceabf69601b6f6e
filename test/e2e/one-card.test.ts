// What makes a model fit a smaller card, in whole runs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { createRun } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/checkpoints.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const native = test.skipIf(noAddon !== undefined);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-one-card-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Hash of the weights after some synchronous steps, and the losses on the way. */
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
  60_000,
);
