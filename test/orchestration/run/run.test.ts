import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRun, replayRun } from "../../../lib/orchestration/index.ts";
import { readEvents } from "../../../lib/orchestration/records/event-log.ts";
import type { StepRecord } from "../../../lib/records.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-run-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The warnings, except those that every recipe this short gets on a core that reports nothing about itself. */
const notable = (warnings: readonly string[]) =>
  warnings.filter((text) => !/it is all warm-up|scored 0; 3 of them/.test(text));

test("an asynchronous run trains every step and accounts for every rollout", async () => {
  const core = standInCore();
  await using run = await createRun(smallRecipe(), { verifiers, dir, core });
  const records: StepRecord[] = [];
  for await (const record of run) records.push(record);
  const trainer = core.trainers[0]!;
  expect(await run.finished).toEqual({ reason: "done", steps: 6, version: 6 });
  expect(records.map((r) => [r.step, r.version])).toEqual([1, 2, 3, 4, 5, 6].map((s) => [s, s]));
  expect(trainer.steps).toHaveLength(6);
  expect(records.at(-1)!.metrics).toMatchObject({
    "mixture/submitted/mad": expect.any(Number),
    "lag/max": 1,
  });
  expect(existsSync(join(dir, "checkpoints", "step-000006"))).toBe(true);
});

test("the same seed gives the same weights when synchronous, and a sequence is never older than the weights", async () => {
  const words: number[] = [];
  for (const name of ["a", "b"]) {
    const core = standInCore();
    await using run = await createRun(smallRecipe({ schedule: "sync" }), {
      verifiers,
      dir: join(dir, name),
      core,
    });
    for await (const { metrics } of run) expect(metrics["lag/max"]).toBe(0);
    words.push(core.trainers[0]!.word);
  }
  expect(words[0]).toBe(words[1]);
});

test("a resumed synchronous run ends with the weights of an uninterrupted one", async () => {
  const recipe = smallRecipe({ steps: 8, schedule: "sync" });
  const whole = standInCore();
  {
    await using run = await createRun(recipe, { verifiers, dir: join(dir, "whole"), core: whole });
    await run.finished;
  }
  const first = standInCore();
  {
    const hooks = { afterStep: ({ step }: StepRecord) => (step === 3 ? ("stop" as const) : undefined) };
    await using run = await createRun(recipe, { verifiers, dir: join(dir, "parts"), core: first, hooks });
    expect(await run.finished).toMatchObject({ reason: "stopped", steps: 3 });
  }
  const second = standInCore();
  await using run = await createRun(recipe, {
    verifiers,
    dir: join(dir, "parts"),
    core: second,
    resume: "auto",
  });
  expect(await run.finished).toMatchObject({ reason: "done", steps: 8 });
  expect(second.trainers[0]!.steps).toHaveLength(5);
  expect(second.trainers[0]!.word).toBe(whole.trainers[0]!.word);
});

test("a resumed asynchronous run submits its outstanding groups again and can be replayed", async () => {
  const recipe = smallRecipe({ steps: 8 });
  {
    const hooks = { afterStep: ({ step }: StepRecord) => (step === 3 ? ("stop" as const) : undefined) };
    await using run = await createRun(recipe, { verifiers, dir, core: standInCore(), hooks });
    await run.finished;
  }
  const manifest = readFileSync(join(dir, "checkpoints", "step-000003", "manifest.json"), "utf8");
  const { sampler, ledger, outstanding } = JSON.parse(JSON.parse(manifest).body.extra);
  expect(outstanding.length).toBeGreaterThan(0);
  for (const [domain, { completed }] of Object.entries<{ completed: number }>(ledger)) {
    expect(sampler.completed[domain], "groups in the pipeline count as never completed").toBe(completed);
  }
  {
    await using run = await createRun(recipe, { verifiers, dir, core: standInCore(), resume: "auto" });
    expect(await run.finished).toMatchObject({ reason: "done", steps: 8 });
  }
  const trained = readEvents(join(dir, "events.jsonl")).flatMap((e) => (e.e === "step" ? [e] : []));
  const groups = trained.flatMap((e) => e.k);
  expect(new Set(groups).size).toBe(groups.length);
  expect(await replayRun(dir, { verifiers, core: standInCore() })).toMatchObject({ steps: 8 });
});

test("an abort drains, saves and can be resumed", async () => {
  const core = standInCore();
  const controller = new AbortController();
  await using run = await createRun(smallRecipe({ steps: 50 }), {
    verifiers,
    dir,
    core,
    signal: controller.signal,
  });
  for await (const { step } of run) if (step === 2) controller.abort();
  const outcome = await run.finished;
  expect(outcome.reason).toBe("aborted");
  expect(outcome.steps).toBeLessThan(50);
  const newest = readdirSync(join(dir, "checkpoints"))
    .filter((n) => /^step-\d+$/.test(n))
    .sort()
    .at(-1);
  expect(newest).toBe(`step-${String(outcome.steps).padStart(6, "0")}`);
});

test("only the last checkpoints are kept", async () => {
  await using run = await createRun(
    smallRecipe({ steps: 12 }, { checkpoint: { everySteps: 2, keepLast: 2 } }),
    {
      verifiers,
      dir,
      core: standInCore(),
    },
  );
  await run.finished;
  const names = readdirSync(join(dir, "checkpoints")).filter((n) => /^step-\d+$/.test(n));
  expect(names.sort()).toEqual(["step-000010", "step-000012"]);
});

/** Makes writes to the file fail as on a full disk; moves its earlier contents to `.kept`. */
function fillUp(file: string): () => void {
  const path = join(dir, file);
  renameSync(path, `${path}.kept`);
  spawnSync("mknod", [path, "c", "1", "7"]); // the device /dev/full; a link to it would be refused
  return () => renameSync(`${path}.kept`, path);
}

test.each(["verdicts.jsonl", "events.jsonl", "steps.jsonl"])(
  "a disk that is full when %s grows ends the run with its name, and nothing that was checkpointed is lost",
  async (file) => {
    const recipe = (steps: number) => smallRecipe({ steps, schedule: "sync" });
    const word = async (steps: number, folder: string, resume?: "auto") => {
      const core = standInCore();
      const options = { verifiers, dir: folder, core, ...(resume && { resume }) };
      await using run = await createRun(recipe(steps), options);
      await run.finished;
      return core.trainers[0]!.word;
    };
    await word(2, dir);
    const free = fillUp(file);
    await expect(word(6, dir, "auto")).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringMatching(`${file}: ENOSPC`),
      hint: expect.stringMatching(/disk is full|free some space/),
    });
    expect(readdirSync(join(dir, "checkpoints")).filter((name) => name.startsWith("step"))).toEqual([
      "step-000002",
    ]);
    free();
    expect(await word(6, dir, "auto")).toBe(await word(6, join(dir, "elsewhere")));
  },
);

test("a damaged newest checkpoint is passed over, loudly", async () => {
  {
    await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore() });
    await run.finished;
  }
  writeFileSync(join(dir, "checkpoints", "step-000006", "manifest.json"), "{");
  const warnings: string[] = [];
  await using run = await createRun(smallRecipe({ steps: 8 }), {
    verifiers,
    dir,
    core: standInCore(),
    resume: "auto",
  });
  run.on("warning", (message) => warnings.push(message));
  expect(await run.finished).toMatchObject({ steps: 8 });
  expect(warnings.join()).toContain("step-000006");
});

test("a hook may drop a group, and what is dropped is counted", async () => {
  const hooks = {
    onGroup: (group: { problem: { domain: string } }) =>
      (group.problem.domain === "math" ? "drop" : undefined) as "drop" | undefined,
  };
  await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore(), hooks });
  let last: StepRecord | undefined;
  for await (const record of run) last = record;
  expect(last!.metrics["dropped/total/hook/math"]).toBeGreaterThan(0);
  expect(last!.metrics["mixture/trained/math"]).toBe(0);
});

test("counting kept groups, a step trains P of them", async () => {
  let calls = 0;
  const hooks = { onGroup: () => (calls++ % 3 === 0 ? ("drop" as const) : undefined) };
  const recipe = smallRecipe({ countGroups: "kept", steps: 5 });
  await using run = await createRun(recipe, { verifiers, dir, core: standInCore(), hooks });
  await run.finished;
  const steps = readEvents(join(dir, "events.jsonl")).flatMap((e) => (e.e === "step" ? [e.k.length] : []));
  expect(steps).toEqual([4, 4, 4, 4, 4]);
});

test("going on as another run is refused, before the folder's record of what it was is touched", async () => {
  const open = async (rest: Parameters<typeof smallRecipe>[1], resume: string) => {
    const recipe = smallRecipe({ steps: 4 }, rest);
    await using run = await createRun(recipe, { verifiers, dir, core: standInCore(), resume });
    return await run.finished;
  };
  await open({}, "never");
  const manifest = readFileSync(join(dir, "run.json"), "utf8");
  const seed = { code: "HONE_ERR_CONFIG", message: expect.stringContaining("seed: is 9; the run in") };
  await expect(open({ seed: 9 }, "auto")).rejects.toMatchObject(seed);
  expect(readFileSync(join(dir, "run.json"), "utf8")).toBe(manifest);
  expect(await open({}, "auto")).toMatchObject({ reason: "done", steps: 4 });
  const elsewhere = join(dir, "checkpoints", "step-000004");
  await using branch = await createRun(smallRecipe({}, { seed: 9 }), {
    verifiers,
    core: standInCore(),
    dir: join(dir, "branch"),
    resume: elsewhere,
  });
  await expect(branch.finished).rejects.toMatchObject({ message: expect.stringContaining("with seed 7") });
});

test("a changed recipe goes on and says what changed; checkpoints of the branch left behind are set aside", async () => {
  const warnings: string[] = [];
  const sit = async (lr: number, steps: number, resume: string) => {
    const recipe = smallRecipe({ steps }, { optimizer: { lr }, checkpoint: { everySteps: 2, keepLast: 2 } });
    await using run = await createRun(recipe, { verifiers, dir, core: standInCore(), resume });
    run.on("warning", (message) => warnings.push(message));
    return await run.finished;
  };
  await sit(1e-3, 8, "never");
  await sit(2e-3, 7, join(dir, "checkpoints", "step-000006"));
  expect(notable(warnings)).toEqual([
    expect.stringMatching(/^renamed, because they are later than step 6: \S+step-000008.aside-1$/),
    "the recipe has changed: optimizer.lr: 0.001 -> 0.002",
    "the recipe has changed: training.steps: 8 -> 7",
  ]);
  const names = readdirSync(join(dir, "checkpoints")).sort();
  expect(names).toEqual(["step-000006", "step-000007", "step-000008.aside-1", "warm-start"]);
  expect(await sit(2e-3, 9, "auto")).toMatchObject({ steps: 9 });
  expect(await replayRun(dir, { verifiers, core: standInCore() })).toMatchObject({ steps: 9 });
});

test("a run that its recipe refuses leaves no empty folder, and one that was there stays", async () => {
  const recipe = smallRecipe(
    {},
    { domains: { math: { weight: 1, source: { kind: "jsonl", path: join(dir, "nowhere.jsonl") } } } },
  );
  const made = join(dir, "made");
  const refused = (at: string) => createRun(recipe, { verifiers, dir: at, core: standInCore() });
  await expect(refused(made)).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
  expect(existsSync(made)).toBe(false);
  mkdirSync(made);
  await expect(refused(made)).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
  expect(existsSync(made)).toBe(true);
});

test("a folder has one run at a time", async () => {
  const options = { verifiers, dir, core: standInCore(), overwrite: true };
  const first = await createRun(smallRecipe({ steps: 50 }), options);
  const second = { code: "HONE_ERR_USAGE", message: expect.stringContaining("belongs to a run") };
  await expect(createRun(smallRecipe(), options)).rejects.toMatchObject(second);
  await first[Symbol.asyncDispose]();
  await using third = await createRun(smallRecipe(), { ...options, core: standInCore() });
  expect(await third.finished).toMatchObject({ steps: 6 });
  // A finished run holds no resources, even before it is disposed of.
  await using fourth = await createRun(smallRecipe(), { ...options, core: standInCore() });
  expect(await fourth.finished).toMatchObject({ steps: 6 });
});

test("a sink that cannot be closed keeps neither the others nor the run's own from being", async () => {
  const closed: string[] = [];
  const sink = (name: string, close: () => void) => ({ name, write: () => {}, close });
  const failing = sink("failing", () => {
    throw new Error("no room");
  });
  const core = standInCore();
  const sinks = [failing, sink("other", () => void closed.push("other"))];
  const run = await createRun(smallRecipe({ steps: 1 }), { verifiers, dir, core, sinks });
  await run.finished;
  const trainer = core.trainers[0]!;
  trainer.close = async () => void closed.push("trainer");
  await expect(run[Symbol.asyncDispose]()).rejects.toThrow("no room");
  expect(closed).toEqual(["other", "trainer"]);
});
