import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RUN_FILES, readRunLog } from "../../../lib/metrics/index.ts";
import { createRun } from "../../../lib/orchestration/index.ts";
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
        expect(metrics["time/reference"] !== undefined).toBe(klCoef > 0); // and not in "other"
      if (klCoef > 0) expect(core.trainers[1]!.word).not.toBe(core.trainers[0]!.word);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
