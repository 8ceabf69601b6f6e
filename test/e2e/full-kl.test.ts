import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { explainStep } from "../../lib/explain/index.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";
import { metricsOf, recordedGroups } from "./run-files.ts";
import { tinyInput } from "./tiny-recipe.ts";

const root = mkdtempSync(join(tmpdir(), "hone-full-kl-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const recipeOf = (objective: object, training: object = {}, rest: Partial<RecipeInput> = {}) => {
  const input = tinyInput({ groupsPerStep: 4, schedule: "sync", ...training } as RecipeInput["training"]);
  return defineRecipe({
    ...input,
    objective: { kind: "dapo", clipLow: 0.2, clipHigh: 0.2, klCoef: 0.5, klEstimator: "full", ...objective },
    rollouts: { ...input.rollouts, record: true },
    checkpoint: { everySteps: 1, keepLast: 9, async: false },
    ...rest,
  });
};

/** @returns the hash of the final weights */
async function train(name: string, recipe: ReturnType<typeof recipeOf>): Promise<string> {
  const dir = join(root, name);
  await using run = await createRun(recipe, { dir, verifiers, resume: "auto" });
  await run.finished;
  return (
    JSON.parse(readFileSync(join(dir, "events.jsonl"), "utf8").trim().split("\n").at(-1)!) as { w: string }
  ).w;
}

describe.skipIf(noAddon !== undefined)("a KL term of whole distributions", () => {
  test.each([
    ["of the whole vocabulary", {}],
    ["of the likeliest and the rest", { klTopK: 9 }],
  ])(
    "%s: begins at 0, is measured and recorded, and a run that goes on is the one that was not interrupted, and replays",
    async (name, objective) => {
      const straight = await train(name, recipeOf(objective, { steps: 4 }));
      const metrics = metricsOf(join(root, name));
      expect(Math.abs(metrics[0]!["kl/reference/full"]!)).toBeLessThan(1e-5);
      for (const one of metrics.slice(1)) {
        expect(one["kl/reference/full"]).toBeGreaterThan(1e-6);
        expect(one["kl/reference/k1"]).toBeDefined();
        expect(one["kl/teacher/divergence"]).toBeUndefined();
      }
      const { divergence, reference } = (await recordedGroups(join(root, name), 3))
        .flatMap(({ rollouts }) => rollouts)
        .find(({ sequence }) => sequence !== undefined)!;
      expect(divergence).toHaveLength(reference!.length);
      await train(`${name}, again`, recipeOf(objective, { steps: 2 }));
      expect(await train(`${name}, again`, recipeOf(objective, { steps: 4 }))).toBe(straight);
      expect(await replayRun(join(root, `${name}, again`), { verifiers })).toMatchObject({
        steps: 4,
        weightsCompared: true,
      });
      expect(await train(`${name}, k3`, recipeOf({ klEstimator: "k3" }, { steps: 4 }))).not.toBe(straight);
    },
    patient(120_000),
  );

  test("of fewer likeliest tokens it is less: a coarser look at the same distributions", async () => {
    const first = (name: string) => metricsOf(join(root, name))[1]!["kl/reference/full"]!;
    // in the first step the KL's gradient is 0, so that all runs have the same weights at the second
    await train("two", recipeOf({ klTopK: 2 }, { steps: 2 }));
    expect(first("two")).toBeLessThan(first("of the likeliest and the rest"));
    expect(first("of the likeliest and the rest")).toBeLessThan(first("of the whole vocabulary"));
  });

  test(
    "adapters, a refreshed reference, asynchronous, several updates: it replays, and is explained by either reference",
    async () => {
      const how = { lora: { rank: 2, alpha: 4 } };
      const training = { schedule: "async", maxLag: 2, updatesPerBatch: 2, steps: 6 };
      await train("refreshed", recipeOf({ referenceEverySteps: 2 }, training, how));
      expect(await replayRun(join(root, "refreshed"), { verifiers })).toMatchObject({
        steps: 6,
        weightsCompared: true,
      });
      for (const step of [2, 4, 6]) {
        const { problem, rollouts } = (await recordedGroups(join(root, "refreshed"), step)).find(
          ({ dropped }) => dropped === undefined,
        )!;
        const { attempt } = rollouts.find(({ sequence }) => sequence !== undefined)!;
        const { settings } = await explainStep(join(root, "refreshed"), {
          step,
          problem,
          attempt,
          set: ["objective.klEstimator=k2"],
        });
        expect(settings[0]!.tokens.some(({ divergence }) => divergence !== undefined)).toBe(true);
        expect(settings[1]!.objective.klEstimator).toBe("k2");
      }
    },
    patient(120_000),
  );

  test("explain trains steps again from an older checkpoint, and refuses what the record does not have", async () => {
    const dir = join(root, "sparse");
    await train("sparse", recipeOf({}, { steps: 4 }, { checkpoint: { everySteps: 3, keepLast: 9 } }));
    const { problem, rollouts } = (await recordedGroups(join(root, "sparse"), 3)).find(
      ({ dropped }) => dropped === undefined,
    )!;
    const whose = {
      step: 3,
      problem,
      attempt: rollouts.find(({ sequence }) => sequence !== undefined)!.attempt,
    };
    expect((await explainStep(dir, whose)).from.trainedAgain).toBe(2);
    const asked = explainStep(dir, { ...whose, set: ["objective.klTopK=5"] });
    await expect(asked).rejects.toThrow(/klEstimator "full" with klTopK .*; the run has/);
    await expect(explainStep(dir, { ...whose, gradient: true })).rejects.toThrow(
      "whose gradient comes from whole distributions",
    );
  });

  test.each([
    [{ klEstimator: "k3", klTopK: 4 }, {}, "looks at sampled tokens alone"],
    [{}, { teacher: { folder: "./t", divergence: {} } }, "a step compares its distributions with one other"],
  ])("%j with %j is refused with the reason", (objective, rest, why) => {
    expect(() => recipeOf(objective, {}, rest)).toThrow(why);
  });
});
