// Faults outside of training: listeners that throw, hooks that hang, logs that disappear. The run survives each.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRun } from "../../lib/orchestration/index.ts";
import type { StepRecord } from "../../lib/records.ts";
import { long } from "../long.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-run-faults-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("what a listener throws or rejects with is one warning, and ends nothing", async () => {
  const warnings: string[] = [];
  await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore() });
  run.on("step", () => {
    throw new RangeError("Invalid count value: -1");
  });
  run.on("checkpoint", async () => Promise.reject(new Error("no such bucket")));
  run.on("warning", (message) => void warnings.push(message));
  run.on("warning", () => {
    throw new Error("again");
  });
  expect(await run.finished).toMatchObject({ reason: "done", steps: 6 });
  expect(warnings.filter((text) => text.includes('"step"'))).toEqual([
    'a listener of "step" failed, and the run continues: RangeError: Invalid count value: -1',
  ]);
  expect(warnings.some((text) => text.includes("no such bucket"))).toBe(true);
});

const never = () => new Promise<never>(() => {});

test.runIf(long).each(["beforeTraining", "afterStep", "onGroup", "onBatch"] as const)(
  "a run whose hook %s never returns can be aborted and disposed of",
  async (hook) => {
    const controller = new AbortController();
    const warnings: string[] = [];
    let reached = () => {};
    const inHook = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const hang = () => {
      reached();
      return never();
    };
    {
      const hooks = { [hook]: hang };
      const options = { verifiers, dir, core: standInCore(), hooks, signal: controller.signal };
      await using run = await createRun(smallRecipe(), options);
      run.on("warning", (message) => void warnings.push(message));
      await inHook;
      controller.abort();
      expect((await run.finished).reason).toBe("aborted");
    }
    if (hook !== "onGroup")
      expect(warnings.join()).toContain(`hook ${hook} has not returned 2 s after the stop`);
    await using again = await createRun(smallRecipe(), {
      verifiers,
      dir,
      core: standInCore(),
      resume: "auto",
    });
    expect(await again.finished).toMatchObject({ reason: "done", steps: 6 });
  },
);

test.each(["afterStep", "onGroup", "onBatch"] as const)(
  "a hook %s that does not return is the stall's culprit",
  async (hook) => {
    const hooks = { [hook]: never };
    const recipe = smallRecipe({ stallSeconds: 0.5 });
    await using run = await createRun(recipe, { verifiers, dir, core: standInCore(), hooks });
    await expect(run.finished).rejects.toMatchObject({
      code: "HONE_ERR_STALL",
      message: expect.stringContaining(`everything waits for the hook ${hook} (it does not return)`),
    });
  },
);

test("a log that is gone or damaged is told before a resumed run trains", async () => {
  const sit = async (steps: number) => {
    const core = standInCore();
    try {
      await using run = await createRun(smallRecipe({ steps }), { verifiers, dir, core, resume: "auto" });
      return await run.finished;
    } finally {
      if (steps > 6) expect(core.trainers[0]?.steps ?? []).toHaveLength(steps === 8 ? 2 : 0);
    }
  };
  await sit(6);
  const [steps, events] = [join(dir, "steps.jsonl"), join(dir, "events.jsonl")];
  const log = readFileSync(steps, "utf8");
  writeFileSync(steps, log.replace(/"metrics":\{/, '"metrics":['));
  const bad = {
    code: "HONE_ERR_FORMAT",
    message: expect.stringContaining("steps.jsonl:1: not a step record"),
  };
  await expect(sit(7)).rejects.toMatchObject(bad);
  writeFileSync(steps, log);
  renameSync(events, `${events}.kept`);
  const gone = { code: "HONE_ERR_FORMAT", message: expect.stringContaining("events.jsonl is missing") };
  await expect(sit(7)).rejects.toMatchObject(gone);
  renameSync(`${events}.kept`, events);
  expect(await sit(8)).toMatchObject({ reason: "done" });
});

test("an event log that is deleted under way ends the run by name", async () => {
  const hooks = {
    afterStep: ({ step }: StepRecord) => {
      if (step === 2) rmSync(join(dir, "events.jsonl"));
      return undefined;
    },
  };
  await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore(), hooks });
  await expect(run.finished).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringMatching(/events.jsonl: it was deleted/),
  });
});
