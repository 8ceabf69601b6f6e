import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RUN_FILES, readRunLog } from "../../../lib/metrics/index.ts";
import { createRun } from "../../../lib/orchestration/index.ts";
import { noAddon } from "../../e2e/native-core.ts";
import { teacherFolder } from "../../fixtures/teacher-folder.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

test("only an objective with a KL term has a reference: the weights training started from, on a trainer of its own", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-reference-"));
  try {
    for (const [klCoef, trainers] of [
      [0, 1],
      [0.1, 2],
    ] as const) {
      const core = standInCore();
      const recipe = smallRecipe({ steps: 2 }, { objective: { klCoef } });
      await using run = await createRun(recipe, { dir, verifiers, core, overwrite: true });
      await run.finished;
      expect(core.trainers).toHaveLength(trainers);
      expect(core.trainers[0]!.steps[0]!.referenceLogprobs !== undefined).toBe(klCoef > 0);
      for (const { metrics } of readRunLog(join(dir, RUN_FILES.log)))
        expect(metrics["time/reference"] !== undefined).toBe(klCoef > 0); // the time must not count under "other"
      if (klCoef > 0) expect(core.trainers[1]!.word).not.toBe(core.trainers[0]!.word);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

describe.skipIf(noAddon !== undefined)("a teacher", () => {
  test("is a trainer of its own size with the folder's weights, which no step moves", async () => {
    const dir = mkdtempSync(join(tmpdir(), "hone-teacher-"));
    try {
      const folder = await teacherFolder(join(dir, "teacher"));
      const core = standInCore();
      const configs: string[] = [];
      const trainer: typeof core.trainer = (config, options) => {
        configs.push(config);
        return core.trainer(config, options);
      };
      const recipe = smallRecipe({ steps: 2 }, { objective: { kind: "dapo" }, teacher: { folder } });
      await using run = await createRun(recipe, {
        dir: join(dir, "run"),
        verifiers,
        core: { ...core, trainer },
      });
      await run.finished;
      expect(configs.map((config) => (JSON.parse(config) as { hidden_size: number }).hidden_size)).toEqual([
        32, 48,
      ]);
      const [policy, teacher] = core.trainers;
      expect([policy!.steps.length, teacher!.steps.length]).toEqual([2, 0]);
      // the stand-in teacher scores every token 0, so an advantage is minus the sampler's log-prob minus the group's
      // baseline
      const [{ mask, behaviorLogprobs, tokenAdvantages }] = policy!.steps as [
        (typeof policy & object)["steps"][0],
      ];
      const sampled = [...mask.keys()].filter((t) => mask[t] === 1);
      const sums = new Set(
        sampled.map((t) => Math.round(1e4 * (tokenAdvantages![t]! + behaviorLogprobs![t]!))),
      );
      expect(sums.size).toBe(4); // one baseline for each of the step's groups
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
