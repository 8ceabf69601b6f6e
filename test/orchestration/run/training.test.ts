import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRun } from "../../../lib/orchestration/index.ts";
import { deferred } from "../../../lib/shared/async/deferred.ts";
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

test("a step is recorded while the next one trains, unless a hook waits for the record", async () => {
  for (const [hooks, first] of [
    [{}, ["train 1", "train 2", "record 1"]],
    [{ afterStep: () => undefined }, ["train 1", "record 1", "train 2"]],
  ] as const) {
    const seen: string[] = [];
    const core = standInCore();
    const recipe = smallRecipe({ steps: 3 }, { checkpoint: { everySteps: 0 } });
    await using run = await createRun(recipe, { verifiers, dir, core, hooks, overwrite: true });
    const trainer = core.trainers[0]!;
    const step = trainer.step.bind(trainer);
    trainer.step = (...args) => {
      seen.push(`train ${trainer.steps.length + 1}`);
      return step(...args);
    };
    run.on("step", (record) => seen.push(`record ${record.step}`));
    await run.finished;
    expect(seen.slice(0, 3)).toEqual(first);
    expect(seen.filter((s) => s.startsWith("record"))).toEqual(["record 1", "record 2", "record 3"]);
  }
});

test("a run that is told to stop when its stages are opened does no step", async () => {
  const core = standInCore();
  await using run = await createRun(smallRecipe(), { verifiers, dir, core });
  run.on("phase", (name) => name === "training" && void run.stop());
  expect(await run.finished).toMatchObject({ reason: "stopped", steps: 0 });
  expect(core.trainers[0]!.steps).toHaveLength(0);
});

test("a checkpoint that waits for a step is written before a run that is stopped lets go of its folder", async () => {
  const order: string[] = [];
  await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore() });
  run.pause();
  run.on("phase", (name) => {
    if (name !== "training") return;
    void run.checkpoint().then(() => order.push("saved"));
    void run.stop();
  });
  await run.finished;
  order.push("ended");
  while (!order.includes("saved")) await turn();
  expect(order).toEqual(["saved", "ended"]);
});

test("a checkpoint asked for while the last is written comes before the run lets go of its folder, too", async () => {
  const order: string[] = [];
  const core = standInCore();
  await using run = await createRun(smallRecipe(), { verifiers, dir, core });
  const trainer = core.trainers[0]!;
  const save = trainer.save.bind(trainer);
  run.on("phase", (name) => {
    if (name !== "training") return;
    trainer.save = async (...args) => {
      trainer.save = save;
      void run.checkpoint().then(() => order.push("saved"));
      await save(...args);
    };
    void run.stop();
  });
  await run.finished;
  expect(order).toEqual(["saved"]);
});

test("a checkpoint that waits for a step which fails is refused with what ended the run", async () => {
  const core = standInCore();
  await using run = await createRun(smallRecipe(), { verifiers, dir, core });
  const trainer = core.trainers[0]!;
  const stage = vi.spyOn(trainer, "stage");
  let asked: Promise<string> | undefined;
  trainer.step = async () => {
    asked = run.checkpoint();
    asked.catch(() => {});
    throw new Error("no device");
  };
  await expect(run.finished).rejects.toThrow("no device");
  await expect(asked).rejects.toThrow("no device");
  expect(stage).not.toHaveBeenCalled();
});

test("a loss that is not finite names its sample; skipping goes on, stopping ends the run", async () => {
  const bad = { skipped: true, nonFiniteSequence: 5, loss: Number.NaN };
  const core = standInCore({ onStep: (_, __, step) => (step === 1 ? bad : {}) });
  const warnings: string[] = [];
  {
    await using run = await createRun(smallRecipe(), { verifiers, dir, core });
    run.on("warning", (message) => warnings.push(message));
    expect(await run.finished).toMatchObject({ reason: "done", steps: 6, version: 5 });
  }
  expect(notable(warnings)).toHaveLength(1);
  expect(notable(warnings)[0]).toMatch(
    /step 2 was skipped; the loss of \w+ problem \d+ \(.*\), attempt 1 was not finite/,
  );
  await using run = await createRun(smallRecipe({ onNonFinite: "stop" }), {
    verifiers,
    dir,
    overwrite: true,
    core: standInCore({ onStep: (_, __, step) => (step === 1 ? bad : {}) }),
  });
  await expect(run.finished).rejects.toMatchObject({
    code: "HONE_ERR_NON_FINITE",
    details: { step: 1, attempt: 1 },
  });
});

test("a stage that fails ends the run with its error", async () => {
  await using run = await createRun(smallRecipe(), {
    verifiers,
    dir,
    core: standInCore({ failAtEngineStep: 12 }),
  });
  await expect(run.finished).rejects.toThrow("engine thread died");
  const iterate = async () => {
    for await (const _ of run);
  };
  await expect(iterate()).rejects.toThrow("engine thread died");
});

test("a line that stands still is named", async () => {
  const recipe = smallRecipe({ stallSeconds: 0.2 });
  await using run = await createRun(recipe, { verifiers, dir, core: standInCore({ deaf: true }) });
  await expect(run.finished).rejects.toMatchObject({
    code: "HONE_ERR_STALL",
    message: expect.stringMatching(/everything waits for the engine \(32 running, 0 waiting\)/),
  });
});

test.each(["its step", "a hook"])(
  "what goes on after the run was given up for it is followed by nothing: %s",
  async (where) => {
    const { promise: gate, resolve: open } = deferred<undefined>();
    let now = 0;
    let isHeld = false;
    const hold = () => {
      isHeld = true;
      return gate;
    };
    const core = standInCore();
    const hooks = where === "a hook" ? { afterStep: hold } : {};
    const clock = {
      now: () => {
        if (isHeld) now += 1e6; // from then on the clock jumps far ahead at each look
        return now;
      },
    };
    const recipe = smallRecipe({ stallSeconds: 1, steps: 5 });
    await using run = await createRun(recipe, { verifiers, dir, core, hooks, clock });
    const trainer = core.trainers[0]!;
    const step = trainer.step.bind(trainer);
    if (where === "its step") trainer.step = (...args) => hold().then(() => step(...args));
    await expect(run.finished).rejects.toMatchObject({ code: "HONE_ERR_STALL" });
    const done = run.step;
    open(undefined);
    for (let i = 0; i < 200; i++) await turn();
    expect([trainer.steps.length, run.step]).toEqual([1, done]);
  },
);

test("a disk that takes nothing any more holds up the next checkpoint, and that is a stall", async () => {
  const recipe = smallRecipe({ stallSeconds: 1 }, { checkpoint: { everySteps: 1 } });
  const core = standInCore();
  let [now, isHeld] = [0, false];
  const clock = {
    now: () => {
      if (isHeld) now += 1e6; // from then on the clock jumps far ahead at each look
      return now;
    },
  };
  await using run = await createRun(recipe, { verifiers, dir, core, clock });
  run.on("step", ({ step }) => {
    isHeld = step === 2;
  });
  const { promise: disk, resolve: mend } = deferred<void>();
  const trainer = core.trainers[0]!;
  const stage = vi.spyOn(trainer, "stage");
  trainer.written = () => disk;
  await expect(run.finished).rejects.toMatchObject({ code: "HONE_ERR_STALL" });
  const done = () => [run.step, trainer.steps.length, stage.mock.calls.length];
  expect(done()).toEqual([2, 2, 1]);
  mend();
  for (let i = 0; i < 200; i++) await turn();
  expect(done()).toEqual([2, 2, 1]); // the run has ended, so no further step is trained
});

test("a pause holds from the start, lasts longer than a stall may, and ends", async () => {
  const recipe = smallRecipe({ stallSeconds: 0.2 });
  await using run = await createRun(recipe, { verifiers, dir, core: standInCore() });
  run.pause();
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(run.step).toBe(0);
  run.resume();
  expect(await run.finished).toMatchObject({ reason: "done", steps: 6 });
});

test("a hook after a step may save and pin, being between two steps", async () => {
  const seen: unknown[] = [];
  await using run = await createRun(smallRecipe({ stallSeconds: 5 }), {
    verifiers,
    dir,
    core: standInCore(),
    hooks: {
      beforeTraining: async (begun) => {
        await expect(begun.checkpoint()).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
      },
      afterStep: async ({ step }) => {
        if (step !== 3) return undefined;
        await using policy = await run.pin();
        seen.push(policy.version, await run.checkpoint());
        return undefined;
      },
    },
  });
  expect(await run.finished).toMatchObject({ reason: "done", steps: 6 });
  expect(seen).toEqual([3, join(dir, "checkpoints", "step-000003")]);
});

test("a run that has nothing to train on says so, and one whose verifier gives no verdicts ends", async () => {
  const warnings: string[] = [];
  const hooks = { onGroup: () => "drop" as const };
  {
    await using run = await createRun(smallRecipe({ steps: 5 }), {
      verifiers,
      dir,
      core: standInCore(),
      hooks,
    });
    run.on("warning", (message) => warnings.push(message));
    await run.finished;
  }
  expect(notable(warnings)).toEqual([
    "nothing to train on: the last 16 groups in a row were dropped (hook 16)",
  ]);
  const verify: typeof verifiers.verify = async (group) =>
    group.map(() => ({ status: "unscored", cause: "it does not load" }));
  const domains = { math: { weight: 1, source: "procedural/math" } };
  await using run = await createRun(smallRecipe({ steps: 12 }, { domains }), {
    dir,
    core: standInCore(),
    verifiers: { ...verifiers, verify },
    overwrite: true,
  });
  await expect(run.finished).rejects.toMatchObject({ code: "HONE_ERR_VERIFIER" });
});
