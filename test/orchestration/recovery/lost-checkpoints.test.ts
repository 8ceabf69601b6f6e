// Deliberate faults (mutants) that these tests detect: a run without a checkpoint is refused; a run whose checkpoints
// are gone starts anew.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRun, type Run } from "../../../lib/orchestration/index.ts";
import { expectCheckpoints, recordedSteps } from "../../../lib/orchestration/recovery/lost-checkpoints.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-lost-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

async function session(
  everySteps: number,
  options: Partial<Parameters<typeof createRun>[1]> = {},
): Promise<{ readonly warnings: string[]; readonly first: number | undefined }> {
  const warnings: string[] = [];
  let first: number | undefined;
  const recipe = smallRecipe({ steps: 6 }, { checkpoint: { everySteps } });
  await using run: Run = await createRun(recipe, { verifiers, dir, core: standInCore(), ...options });
  run.on("warning", (message) => void warnings.push(message));
  run.on("step", ({ step }) => {
    first ??= step;
  });
  await run.finished;
  return { warnings, first };
}

test("a run whose checkpoints were removed is refused, with what is gone and how to begin again", async () => {
  await session(2);
  expectCheckpoints(dir);
  rmSync(join(dir, "checkpoints"), { recursive: true });
  const said = {
    code: "HONE_ERR_CHECKPOINT",
    message: `${dir} cannot be resumed: its run did 6 steps and saved step-000006, but ${join(dir, "checkpoints")} is not there now`,
    hint: expect.stringMatching(/Put the checkpoints back.*--overwrite instead of --resume/) as string,
  };
  await expect(session(2, { resume: "auto" })).rejects.toMatchObject(said);
  mkdirSync(join(dir, "checkpoints", "warm-start"), { recursive: true });
  await expect(session(2, { resume: "auto" })).rejects.toMatchObject({ code: said.code });
  rmSync(join(dir, "events.jsonl"));
  await expect(session(2, { resume: "auto" })).rejects.toMatchObject({
    message: expect.stringContaining("did 6 steps, but no step has one in") as string,
  });
  expect(await session(2, { overwrite: true })).toMatchObject({ first: 1 });
});

test("a run that was killed before its first checkpoint begins again, and says so", async () => {
  const hooks = {
    afterStep: ({ step }: { step: number }) => (step === 3 ? "stop" : undefined) as "stop" | undefined,
  };
  await session(50, { hooks });
  rmSync(join(dir, "checkpoints"), { recursive: true });
  // the folder as it was before the stop wrote its checkpoint
  const note = '{"e":"note","s":3,"t":1,"k":"warning","m":"the checkpoint of step 3 is not written"}';
  const step = (s: number) => `{"e":"step","s":${s},"v":${s + 1},"k":[]}`;
  writeFileSync(join(dir, "events.jsonl"), `${[0, 1, 2].map(step).join("\n")}\n${note}\n`);
  expect(recordedSteps(dir)).toEqual({ steps: 3, saved: undefined });
  const { warnings, first } = await session(50, { resume: "auto" });
  expect(first).toBe(1);
  expect(warnings).toContain(`the 3 steps in ${dir} had no checkpoint yet: the run begins again at step 1`);
});

test("a folder without a run is nothing to go on with, and nothing is said of it", async () => {
  expectCheckpoints(dir);
  expect(recordedSteps(dir)).toEqual({ steps: 0, saved: "" });
  const { warnings, first } = await session(2, { resume: "auto" });
  expect(first).toBe(1);
  expect(warnings.join()).not.toContain("begins again");
});
