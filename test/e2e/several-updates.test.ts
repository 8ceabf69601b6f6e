import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import {
  createRun,
  type RecordedGroup,
  type RecordedStep,
  readRolloutRecord,
  replayRun,
} from "../../lib/orchestration/index.ts";
import type { StepRecord } from "../../lib/records.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const STEPS = 5;
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-updates-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function recipeOf(
  updatesPerBatch: number,
  epochs: number,
  objective: RecipeInput["objective"],
  training: Partial<RecipeInput["training"]> = {},
) {
  const rule = { steps: STEPS, groupsPerStep: 6, maxLag: 2, updatesPerBatch, epochs };
  const input = tinyInput({ ...rule, ...training });
  return defineRecipe({
    ...input,
    objective,
    rollouts: { ...input.rollouts, record: true },
    checkpoint: { everySteps: 2 },
  });
}

async function train(recipe: ReturnType<typeof recipeOf>, resume = false): Promise<string> {
  await using run = await createRun(recipe, { dir, verifiers, ...(resume && { resume: "auto" as const }) });
  await run.finished;
  return JSON.stringify(readFileSync(join(dir, "events.jsonl"), "utf8").trim().split("\n").at(-1));
}

function metricsOf(step: number): StepRecord["metrics"] {
  const lines = readFileSync(join(dir, "steps.jsonl"), "utf8").trim().split("\n");
  return (JSON.parse(lines[step - 1]!) as StepRecord).metrics;
}

async function recordOf(step: number) {
  const lines: (RecordedStep | RecordedGroup)[] = [];
  for await (const line of readRolloutRecord(dir, step)) lines.push(line);
  const [head, ...groups] = lines as [RecordedStep, ...RecordedGroup[]];
  return { head, groups: groups.filter(({ dropped }) => dropped === undefined) };
}

describe.skipIf(noAddon !== undefined)("several updates a batch", () => {
  test("an asynchronous run is replayed to the bit, its steps count and its clips are told", async () => {
    const recipe = recipeOf(3, 2, {
      kind: "gspo",
      clipLow: 1e-4,
      clipHigh: 1e-4,
      correction: { kind: "tis", high: 1.5 },
    });
    await train(recipe);
    const verdict = await replayRun(dir, { verifiers });
    expect(verdict).toMatchObject({ steps: STEPS, weightsCompared: true });
    const { head, groups } = await recordOf(STEPS);
    const updates = head.trained!.updates!;
    expect(head.version).toBe(head.versionBefore + 1);
    expect(updates).toHaveLength(2 * Math.min(3, groups.length));
    const firstEpoch = updates.filter(({ epoch }) => epoch === 0);
    expect(firstEpoch.reduce((n, update) => n + update.groups, 0)).toBe(groups.length);
    expect(firstEpoch.reduce((n, { tokens }) => n + tokens, 0)).toBe(head.trained!.tokens);
    expect(metricsOf(STEPS)).toMatchObject({ "update/count": updates.length, "update/skipped": 0 });
    // only the first update has ratios of 1; in later ones some deviate by over 1e-4
    expect(metricsOf(STEPS)["clip/sequences"]).toBeGreaterThan(0);
  });

  test("a run that goes on from a checkpoint ends with the weights of one that was not interrupted", async () => {
    const of = (steps: number) => recipeOf(3, 1, { kind: "gspo" }, { steps, schedule: "sync", maxLag: 0 });
    const straight = await train(of(STEPS));
    rmSync(dir, { recursive: true });
    await train(of(3));
    expect(await train(of(STEPS), true)).toBe(straight);
  });
});
