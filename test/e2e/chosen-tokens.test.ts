import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { explainStep } from "../../lib/explain/index.ts";
import { createRun, readRolloutRecord, replayRun } from "../../lib/orchestration/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const root = mkdtempSync(join(tmpdir(), "hone-tokens-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Objective = NonNullable<RecipeInput["objective"]>;

const recipeOf = (objective: Objective, training: Partial<RecipeInput["training"]>) => {
  const input = tinyInput({ groupsPerStep: 4, ...training });
  return defineRecipe({
    ...input,
    objective: { kind: "dapo", clipLow: 0.05, clipHigh: 0.05, ...objective },
    rollouts: { ...input.rollouts, record: true },
    checkpoint: { everySteps: 2, keepLast: 10 },
  });
};

/** @returns the run's last event, which has the hash of the weights */
async function train(dir: string, recipe: ReturnType<typeof recipeOf>): Promise<string> {
  await using run = await createRun(recipe, { dir, verifiers, resume: "auto" });
  await run.finished;
  return readFileSync(join(dir, "events.jsonl"), "utf8").trim().split("\n").at(-1)!;
}

const RULES: readonly (readonly [string, Objective["tokens"]])[] = [
  ["high entropy", { kind: "high-entropy" }],
  ["clip-cov", { kind: "clip-cov", fraction: 0.05, low: 0.1 }],
  ["kl-cov", { kind: "kl-cov", fraction: 0.05 }],
];

describe.skipIf(noAddon !== undefined)("tokens that a rule chose", () => {
  test.each(RULES)(
    "%s: an asynchronous run replays to the bit, from its log and from its record",
    async (name, tokens) => {
      const dir = join(root, name);
      await train(dir, recipeOf({ tokens }, { steps: 5, maxLag: 2, updatesPerBatch: 2 }));
      expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 5, weightsCompared: true });
      const lines = [];
      for await (const line of readRolloutRecord(dir, 5)) lines.push(line);
      const group = lines.find((line) => "rollouts" in line && line.dropped === undefined)!;
      if (!("rollouts" in group)) throw new Error("no group was kept");
      const place = { step: 5, problem: group.problem, attempt: group.rollouts[0]!.attempt };
      // recomputes step 5 from the checkpoint after step 4 with the recorded tokens, and compares it with the run
      const { settings } = await explainStep(dir, place);
      const trained = settings[0]!.tokens.filter(({ ratio }) => ratio !== undefined);
      const given = trained.map((token) => token.tokenWeight ?? token.tokenPenalty);
      expect(given).not.toContain(undefined);
      await expect(
        explainStep(dir, { ...place, set: ['objective.tokens={"kind":"high-entropy","fraction":0.5}'] }),
      ).rejects.toThrow("which is not the run's");
    },
  );

  test("a run that goes on from a checkpoint is the one that was not interrupted", async () => {
    const of = (steps: number) =>
      recipeOf({ tokens: { kind: "clip-cov", fraction: 0.05, low: 0.1 } }, { steps, schedule: "sync" });
    const straight = await train(join(root, "straight"), of(4));
    await train(join(root, "resumed"), of(2));
    expect(await train(join(root, "resumed"), of(4))).toBe(straight);
    const without = await train(join(root, "without"), recipeOf({}, { steps: 4, schedule: "sync" }));
    expect(without).not.toBe(straight);
  });
});
