import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import {
  createRun,
  type RecordedRollout,
  readRolloutRecord,
  replayRun,
} from "../../lib/orchestration/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const root = mkdtempSync(join(tmpdir(), "hone-reference-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const recipeOf = (training: Partial<RecipeInput["training"]>, rest: Partial<RecipeInput> = {}, every = 2) => {
  const input = tinyInput({ groupsPerStep: 4, schedule: "sync", ...training });
  return defineRecipe({
    ...input,
    objective: { kind: "dapo", clipLow: 0.2, clipHigh: 0.2, klCoef: 0.5, referenceEverySteps: every },
    rollouts: { ...input.rollouts, record: true },
    checkpoint: { everySteps: 1, keepLast: 2, async: false },
    ...rest,
  });
};

/** @returns the run's last event, which has the hash of the weights */
async function train(dir: string, recipe: ReturnType<typeof recipeOf>, resume = "auto"): Promise<string> {
  await using run = await createRun(recipe, { dir, verifiers, resume });
  await run.finished;
  return readFileSync(join(dir, "events.jsonl"), "utf8").trim().split("\n").at(-1)!;
}

async function recorded(dir: string, step: number): Promise<RecordedRollout[]> {
  const out: RecordedRollout[] = [];
  for await (const line of readRolloutRecord(dir, step))
    if ("rollouts" in line) out.push(...line.rollouts.filter(({ reference }) => reference !== undefined));
  return out;
}

describe.skipIf(noAddon !== undefined)("a reference that is refreshed", () => {
  test("is the policy after every so many steps, to the bit, and what no checkpoint needs is removed", async () => {
    const dir = join(root, "straight");
    await train(dir, recipeOf({ steps: 6 }));
    for (const step of [1, 2, 3, 4, 5, 6]) {
      const rollouts = await recorded(dir, step);
      expect(rollouts.length).toBeGreaterThan(0);
      // on policy the sampler and the reference have equal weights right after a refresh and in the first step
      for (const { reference, logprobs } of rollouts) expect(reference === logprobs).toBe(step % 2 === 1);
    }
    const kept = readdirSync(join(dir, "checkpoints")).filter((name) => name.startsWith("reference"));
    expect(kept.sort()).toEqual(["reference-000004", "reference-000006"]);
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 6, weightsCompared: true });
    const fixed = await train(join(root, "fixed"), recipeOf({ steps: 6 }, {}, 0));
    expect(readFileSync(join(dir, "events.jsonl"), "utf8")).not.toContain(JSON.parse(fixed).w);
  });

  test.each([
    ["between two refreshes", 3],
    ["after a refresh", 4],
  ])("a run that goes on %s is the one that was not interrupted, and replays", async (name, at) => {
    const dir = join(root, name);
    const straight = readFileSync(join(root, "straight", "events.jsonl"), "utf8")
      .trim()
      .split("\n")
      .at(-1)!;
    await train(dir, recipeOf({ steps: at }));
    expect(await train(dir, recipeOf({ steps: 6 }))).toBe(straight);
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 6, weightsCompared: true });
  });

  test("adapters, asynchronous, several updates: it replays; a reference that is gone is named", async () => {
    const dir = join(root, "adapters");
    const how = { lora: { rank: 2, alpha: 4 }, checkpoint: { everySteps: 1, keepLast: 2 } };
    const training = { schedule: "async", maxLag: 2, updatesPerBatch: 2 } as const;
    await train(dir, recipeOf({ ...training, steps: 5 }, how));
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 5, weightsCompared: true });
    const last = join(dir, "checkpoints", "reference-000004");
    expect(existsSync(last)).toBe(true);
    rmSync(last, { recursive: true });
    await expect(train(dir, recipeOf({ ...training, steps: 7 }, how))).rejects.toThrow(
      "reference-000004 is missing",
    );
  });
});
