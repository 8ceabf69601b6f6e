// GSPO as a recipe's own objective over a whole asynchronous run: the run's own log, executed again with the built-in
// one in its place, gives the same rollouts and the same weights.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineRecipe } from "../../lib/config/index.ts";
import { RUN_FILES } from "../../lib/metrics/index.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { gspo } from "../fixtures/custom-gspo.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const native = test.skipIf(noAddon !== undefined);
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-custom-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function record(slopes: typeof gspo) {
  return defineRecipe({ ...tinyInput({ maxLag: 3, steps: 16 }), objective: { kind: "custom", slopes } });
}

/** The folder's recipe with a built-in objective, wherever it is written. */
function rewrite(kind: string): void {
  for (const file of [RUN_FILES.events, "run.json"]) {
    const text = readFileSync(join(dir, file), "utf8");
    const changed = text.replace(/"kind":\s*"custom",\s*"slopes":\s*\{[^}]*\}/, `"kind":"${kind}"`);
    expect(changed).not.toBe(text);
    writeFileSync(join(dir, file), changed);
  }
}

native(
  "a run with GSPO in TypeScript, replayed with the built-in GSPO, ends with the same bits; with another it does not",
  async () => {
    const recipe = record(gspo);
    const lags: number[] = [];
    const ratios: number[] = [];
    await using run = await createRun(recipe, { dir, verifiers });
    for await (const { metrics } of run) {
      lags.push(metrics["lag/max"] ?? 0);
      ratios.push(metrics["ratio/max"] ?? 1);
    }
    await run.finished;
    expect(Math.max(...lags)).toBeGreaterThan(0);
    expect(Math.max(...ratios)).toBeGreaterThan(1.004);
    await expect(replayRun(dir, { verifiers })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
    const own = await replayRun(dir, { verifiers, recipe });
    expect(own).toMatchObject({ steps: 16, weightsCompared: true });
    const renamed: typeof gspo = (input) => gspo(input);
    await expect(replayRun(dir, { verifiers, recipe: record(renamed) })).rejects.toMatchObject({
      code: "HONE_ERR_CONFIG",
    });
    rewrite("gspo");
    expect(await replayRun(dir, { verifiers })).toEqual(own);
    for (const file of [RUN_FILES.events, "run.json"]) {
      const text = readFileSync(join(dir, file), "utf8");
      writeFileSync(join(dir, file), text.replace('"kind":"gspo"', '"kind":"dapo"'));
    }
    await expect(replayRun(dir, { verifiers })).rejects.toMatchObject({ code: "HONE_ERR_REPLAY" });
  },
  patient(120_000),
);
