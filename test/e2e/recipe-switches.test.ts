// Runs of the real core under the switches that a paper's recipe may ask for: corrections for stale samples.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { createRun } from "../../lib/orchestration/index.ts";
import type { StepRecord } from "../../lib/records.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const native = test.skipIf(noAddon !== undefined);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-switches-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function run(
  rest: Partial<RecipeInput>,
  training: Partial<RecipeInput["training"]>,
): Promise<StepRecord[]> {
  const recipe = defineRecipe({ ...tinyInput({ steps: 6, groupsPerStep: 3, ...training }), ...rest });
  const steps: StepRecord[] = [];
  await using line = await createRun(recipe, { dir, verifiers });
  for await (const step of line) steps.push(step);
  return steps;
}

const metric = (steps: readonly StepRecord[], name: string) =>
  steps.flatMap(({ metrics }) => metrics[name] ?? []);
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

native.each([
  ["tis", { high: 1.02 }],
  ["sequence-tis", { high: 1.05 }],
  ["icepop", { low: 0.98, high: 1.02 }],
  ["sequence-mask", { low: 0.95, high: 1.05 }],
  ["geometric-mask", { low: 0.999, high: 1.001 }],
] as const)("stale samples are corrected: %s", async (kind, bounds) => {
  const objective = { kind: "grpo", correction: { kind, ...bounds } } as const;
  const steps = await run({ objective }, { schedule: "async", maxLag: 3, steps: 8 });
  expect(mean(metric(steps, "lag/mean"))).toBeGreaterThan(0);
  const masked = metric(steps, "correction/masked");
  expect(masked.length).toBeGreaterThan(0);
  // what lags is bounded now and then, and not everywhere
  expect(Math.max(...metric(steps, "clip/tokens"))).toBeGreaterThan(0);
  expect(Math.min(...metric(steps, "clip/tokens"))).toBeLessThan(1);
  expect(Math.max(...masked) > 0).toBe(!kind.endsWith("tis"));
  if (kind !== "geometric-mask")
    expect(Math.max(...metric(steps, "correction/weight-max"))).toBeLessThanOrEqual(Math.fround(bounds.high));
  expect(Math.max(...metric(steps, "correction/ess"))).toBeLessThanOrEqual(1 + 1e-12);
  expect(metric(steps, "clip/high")).toEqual([]);
  expect(metric(steps, "step/changed-total").at(-1)).toBeGreaterThan(0);
});

native("on policy a correction leaves every weight at 1", async () => {
  const objective = { kind: "gspo", correction: { kind: "icepop", low: 0.5, high: 5 } } as const;
  const steps = await run({ objective }, { schedule: "sync", steps: 3 });
  expect(metric(steps, "correction/weight-mean")).toEqual(metric(steps, "grad/norm").map(() => 1));
  expect(metric(steps, "correction/masked")).toEqual(metric(steps, "grad/norm").map(() => 0));
  expect(steps.length).toBe(3);
});
