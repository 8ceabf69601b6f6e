import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createRun,
  expectRecorded,
  openBeforeStep,
  type RecordedGroup,
  type RunHooks,
  recordedBatch,
  settleRecorded,
} from "../../../lib/orchestration/index.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-before-step-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Runs six steps with checkpoints after 2, 4 and 6. */
async function record(hooks: RunHooks = {}): Promise<void> {
  const rollouts = { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 64, record: true };
  const recipe = smallRecipe({ steps: 6, maxLag: 2 }, { rollouts });
  await using run = await createRun(recipe, { dir, verifiers, hooks, core: standInCore() });
  await run.finished;
}

/** Restores the weights before a step and trains it: expects the recorded loss and gradient norm. */
async function trainFrom(step: number) {
  await using before = await openBeforeStep(dir, step, { core: standInCore() });
  const groups = settleRecorded(before.groups, before.recipe, before.hooked);
  expectRecorded(groups, before.groups);
  const { data } = recordedBatch(groups, before.recipe);
  const trained = before.step.trained!;
  const report = await before.trainer.step(data, { ...trained.objective, muonLr: 0 });
  expect([report.loss, report.gradNorm]).toEqual([trained.loss, trained.gradNorm]);
  expect(before.trainer.version).toBe(before.step.version);
  return before.from;
}

test("a step is trained again from the nearest checkpoint before it", async () => {
  await record();
  expect(await trainFrom(3)).toEqual({ checkpoint: "step-000002", trainedAgain: 0 });
  expect(await trainFrom(4)).toEqual({ checkpoint: "step-000002", trainedAgain: 1 });
  expect(await trainFrom(1)).toEqual({
    checkpoint: "the weights training started from",
    trainedAgain: 0,
  });
});

test("a step on the way that came out differently is named", async () => {
  await record();
  const path = join(dir, "rollouts", "step-000003.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").replace(/"loss":[^,]+/, '"loss":0.123'));
  await expect(openBeforeStep(dir, 4, { core: standInCore() })).rejects.toMatchObject({
    code: "HONE_ERR_REPLAY",
    message: expect.stringMatching(/^step 3 has loss .*, in the run 0\.123$/),
  });
});

test("rewards that a hook gave, and groups that it took out, are as they were", async () => {
  await record({
    onGroup: ({ problem, rollouts }) =>
      problem.id % 3 === 0 ? "drop" : { rewards: rollouts.map((_, i) => i) },
  });
  await trainFrom(5);
});

test("what is asked of the groups is asked before any weights are restored", async () => {
  await record();
  const expectNothing = (groups: readonly RecordedGroup[]) => {
    throw new Error(`${groups.length} groups`);
  };
  rmSync(join(dir, "checkpoints"), { recursive: true });
  await expect(openBeforeStep(dir, 3, { core: standInCore(), expect: expectNothing })).rejects.toThrow(
    "4 groups",
  );
  await expect(openBeforeStep(dir, 1, { core: standInCore() })).rejects.toMatchObject({
    code: "HONE_ERR_CHECKPOINT",
    message: expect.stringContaining("warm-start is missing"),
  });
});

test("an objective in TypeScript is not in the record, which is said before weights are looked for", async () => {
  await record();
  const path = join(dir, "events.jsonl");
  const text = readFileSync(path, "utf8");
  const slopes = `"slopes":{"function":"mine","sha256":"${"0".repeat(64)}"}`;
  const changed = text.replace('"objective":{"kind":"gspo"', `"objective":{"kind":"custom",${slopes}`);
  expect(changed).not.toBe(text);
  writeFileSync(path, changed);
  rmSync(join(dir, "checkpoints"), { recursive: true });
  await expect(openBeforeStep(dir, 3, { core: standInCore() })).rejects.toMatchObject({
    code: "HONE_ERR_UNSUPPORTED",
    hint: expect.stringContaining("hone replay --recipe"),
  });
});
