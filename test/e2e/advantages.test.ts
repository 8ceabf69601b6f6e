import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { explainStep } from "../../lib/explain/index.ts";
import { createRun, type RunHooks, replayRun } from "../../lib/orchestration/index.ts";
import type { RolloutGroup } from "../../lib/records.ts";
import { noAddon } from "./native-core.ts";
import { recordedGroups } from "./run-files.ts";
import { tinyInput, twoRewards } from "./tiny-recipe.ts";

const root = mkdtempSync(join(tmpdir(), "hone-advantages-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const recipeOf = (advantages: RecipeInput["advantages"], training: Partial<RecipeInput["training"]>) => {
  const input = tinyInput({ groupsPerStep: 4, ...training });
  return defineRecipe({
    ...input,
    domains: twoRewards,
    advantages: { filter: "reward", ...advantages },
    warmStart: { steps: 8, batchSize: 16, mixture: { math: 0.5, logic: 0.5 }, warmupSteps: 2 },
    rollouts: { ...input.rollouts, record: true },
    checkpoint: { everySteps: 2, keepLast: 10 },
  });
};

/** @returns the run's last event, which has the hash of the weights */
async function train(
  dir: string,
  recipe: ReturnType<typeof recipeOf>,
  hooks: RunHooks = {},
): Promise<string> {
  await using run = await createRun(recipe, { dir, hooks, resume: "auto" });
  await run.finished;
  return readFileSync(join(dir, "events.jsonl"), "utf8").trim().split("\n").at(-1)!;
}

const FORMS: readonly (readonly [string, RecipeInput["advantages"]])[] = [
  ["over the batch", { divideBy: "batch-std" }],
  ["against the batch", { baseline: "batch-mean", divideBy: "batch-std" }],
  ["by domain", { baseline: "domain-mean", divideBy: "domain-std" }],
  ["of each reward, then over the batch", { combine: "advantages", divideBy: "batch-std" }],
];

describe.skipIf(noAddon !== undefined)("advantages that need the whole batch", () => {
  test.each(FORMS)("%s: an asynchronous run with several updates replays to the bit", async (name, how) => {
    const dir = join(root, `async ${name}`);
    await train(dir, recipeOf(how, { steps: 5, maxLag: 2, updatesPerBatch: 2 }));
    expect(await replayRun(dir, {})).toMatchObject({ steps: 5, weightsCompared: true });
    const kept = (await recordedGroups(dir, 2)).filter(({ dropped }) => dropped === undefined);
    expect(kept.length).toBeGreaterThan(1);
    const { group, rollouts } = kept[0]!;
    const { settings } = await explainStep(dir, {
      step: 2,
      problem: kept[0]!.problem,
      attempt: rollouts[0]!.attempt,
      set: ["advantages.combine=rewards", "advantages.divideBy=none", "advantages.baseline=mean"],
    });
    const { reward, group: of } = settings[0]!;
    expect(group).toBeGreaterThanOrEqual(0);
    expect(of.batchwide).toBeDefined();
    expect(reward!.advantage).toBe(rollouts[0]!.advantage);
    const stands =
      reward!.shares?.reduce((sum, { weight, normalised }) => sum + weight * normalised, 0) ?? reward!.reward;
    expect((stands - reward!.baseline) / reward!.divisor!).toBeCloseTo(reward!.advantage, 9);
    expect(settings[1]!.reward!.advantage).toBeCloseTo(reward!.reward - settings[1]!.group.mean, 9);
  });

  test("a run that goes on from a checkpoint is the one that was not interrupted", async () => {
    const of = (steps: number) =>
      recipeOf({ combine: "advantages", divideBy: "batch-std" }, { steps, schedule: "sync" });
    const straight = await train(join(root, "straight"), of(4));
    await train(join(root, "resumed"), of(2));
    expect(await train(join(root, "resumed"), of(4))).toBe(straight);
  });

  test("a hook's are trained on, recorded, explained and replayed to the bit; an altered one is found", async () => {
    const dir = join(root, "hooked");
    const onBatch = (groups: readonly RolloutGroup[]) =>
      groups.map(({ rollouts }, i) => (i === 1 ? rollouts.map(() => Math.random() - 0.5) : undefined));
    await train(dir, recipeOf({ divideBy: "batch-std" }, { steps: 5, maxLag: 2 }), { onBatch });
    expect(await replayRun(dir, {})).toMatchObject({ steps: 5, weightsCompared: true });
    const kept = (await recordedGroups(dir, 3)).filter(({ dropped }) => dropped === undefined);
    const { problem, rollouts } = kept[1]!;
    const one = await explainStep(dir, { step: 3, problem, attempt: rollouts[0]!.attempt });
    expect(one.settings[0]!.group.advantagesByHook).toBe(true);
    expect(one.settings[0]!.reward!.advantage).toBe(rollouts[0]!.advantage);
    const log = join(dir, "events.jsonl");
    const text = readFileSync(log, "utf8");
    writeFileSync(log, text.replace(/("a":\[\[\d+,)(-?)(0\.\d)/, "$1$2$34"));
    await expect(replayRun(dir, {})).rejects.toMatchObject({ code: "HONE_ERR_REPLAY" });
    writeFileSync(log, text.replace(/("a":\[\[\d+),-?[\d.e-]+/, "$1"));
    await expect(replayRun(dir, {})).rejects.toMatchObject({ code: "HONE_ERR_FORMAT" });
  });
});
