import { expect, test, vi } from "vitest";
import type { Clock } from "../../../lib/clock.ts";
import { HoneError } from "../../../lib/errors.ts";
import type { RunState } from "../../../lib/orchestration/recovery/index.ts";
import type { RunContext } from "../../../lib/orchestration/run/run-context.ts";
import { Saving } from "../../../lib/orchestration/run/saving.ts";
import { type Deferred, deferred } from "../../../lib/shared/async/deferred.ts";

const state = (step: number) => ({ step }) as RunState;

function saving(async = true, maxUnsavedSteps = 0) {
  let now = 0;
  const writes: { step: number; written: Deferred<string> }[] = [];
  const told: string[] = [];
  const warn = vi.fn();
  const checkpoints = {
    stage: async (_: unknown, { step }: RunState) => {
      const written = deferred<string>();
      writes.push({ step, written });
      now += 100;
      return { written: written.promise };
    },
    save: async (_: unknown, { step }: RunState) => {
      now += 3_000;
      return `whole-${step}`;
    },
  };
  const listeners = { emit: (_: string, path: string, step: number) => told.push(`${path}@${step}`) };
  const recipe = { checkpoint: { async, maxUnsavedSteps } };
  const context = {
    resources: { recipe, placed: recipe },
    checkpoints,
    publisher: { listeners, warn },
    clock: { now: () => now } as Clock,
  } as unknown as RunContext;
  const pass = (ms: number) => {
    now += ms;
  };
  return { saving: new Saving(context), writes, told, warn, pass };
}

test("training goes on when the state is copied; the checkpoint is told of when it is whole, with the step it is of", async () => {
  const { saving: one, writes, told, pass } = saving();
  const { written } = await one.begin(state(4));
  expect(told).toEqual([]);
  expect(one.takeSeconds()).toEqual({ pause: 0.1 });
  pass(2_000);
  writes[0]!.written.resolve("step-4");
  expect(await written).toBe("step-4");
  expect(told).toEqual(["step-4@4"]);
  expect(one.takeSeconds()).toEqual({ write: 2 });
  expect(one.takeSeconds()).toEqual({});
});

test("the run's own: the next waits for the one before, and says so once", async () => {
  const { saving: one, writes, warn, pass } = saving();
  await one.begin(state(1));
  const later = async (step: number) => {
    const begun = one.due(step, () => one.begin(state(step)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(writes.map((write) => write.step)).not.toContain(step);
    pass(700);
    writes.at(-1)!.written.resolve("whole");
    await begun;
    expect(writes.map((write) => write.step)).toContain(step);
  };
  await later(2);
  await later(3);
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn).toHaveBeenCalledWith(
    expect.stringContaining("training waited 0.7 s for the previous checkpoint"),
  );
  expect(one.takeSeconds().pause).toBeCloseTo(0.1 * 3 + 0.7 * 2);
});

test("one that is asked for is of the state at that call, whatever is being written", async () => {
  const { saving: one, writes } = saving();
  await one.begin(state(1));
  const [asked, again] = [one.begin(state(2)), one.begin(state(3))];
  expect(writes.map((write) => write.step)).toEqual([1, 2, 3]); // the trainer has copied its state already
  await Promise.all([asked, again]);
  let over = false;
  const settled = one.settle().then(() => (over = true));
  for (const { written } of writes.slice(0, 2)) written.resolve("whole");
  await new Promise((resolve) => setImmediate(resolve));
  expect(over).toBe(false);
  writes[2]!.written.resolve("whole");
  await settled;
});

test("what keeps one of the run's own from being written ends the run, whoever else hears of it", async () => {
  const { saving: one, writes } = saving();
  await one.due(1, () => one.begin(state(1)));
  writes[0]!.written.reject(new Error("disk full"));
  await expect(one.settle()).rejects.toThrow("disk full"); // the error of a save that another caller requested
  expect(() => one.raise()).toThrow("disk full");
  await expect(one.due(2, () => one.begin(state(2)))).rejects.toThrow("disk full");
  await expect(one.now(state(2))).rejects.toThrow("disk full");
});

test("what keeps one that was asked for from being written is told to who asked alone", async () => {
  const { saving: one, writes } = saving();
  const { written } = await one.begin(state(1));
  writes[0]!.written.reject(new Error("disk full"));
  await expect(written).rejects.toThrow("disk full");
  await one.settle();
});

const FULL = new HoneError("HONE_ERR_IO", "disk full");

test("checkpoint.maxUnsavedSteps: a disk has so many steps to be mended, from the first that was not written", async () => {
  const { saving: one, writes, warn } = saving(true, 10);
  const tried = async (step: number) => {
    await one.due(step, () => one.begin(state(step)));
    writes.at(-1)!.written.reject(FULL);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await tried(5);
  await tried(10);
  expect(warn.mock.calls.map(([text]) => text)).toEqual([
    "the checkpoint of step 5 was not written: disk full; the run ends with step 15 unless a checkpoint is written before (checkpoint.maxUnsavedSteps)",
    "the checkpoint of step 10 was not written: disk full; the run ends with step 15 unless a checkpoint is written before (checkpoint.maxUnsavedSteps)",
  ]);
  expect(() => one.raise(14)).not.toThrow();
  expect(() => one.raise(15)).toThrow("disk full");
  await expect(one.due(15, () => one.begin(state(15)))).rejects.toThrow("disk full");
});

test("a checkpoint that is written ends the time that a disk has; the last of a run is tried whatever was before", async () => {
  const { saving: one, writes } = saving(true, 10);
  await one.due(5, () => one.begin(state(5)));
  writes[0]!.written.reject(FULL);
  await one.due(10, () => one.begin(state(10)));
  writes[1]!.written.resolve("step-10");
  await one.settle();
  expect(() => one.raise(15)).not.toThrow();
  await one.due(20, () => one.begin(state(20)));
  writes[2]!.written.reject(FULL);
  expect(await one.now(state(29))).toBe("whole-29");
});

test("one that was asked for and is written ends the time that a disk has, too", async () => {
  const { saving: one, writes } = saving(true, 10);
  await one.due(5, () => one.begin(state(5)));
  writes[0]!.written.reject(FULL);
  const { written } = await one.begin(state(7));
  writes[1]!.written.resolve("step-7");
  await written;
  expect(() => one.raise(15)).not.toThrow();
});

test("checkpoint.maxUnsavedSteps is for disks: what else keeps a checkpoint from being written ends the run", async () => {
  const { saving: one, writes } = saving(true, 10);
  await one.due(5, () => one.begin(state(5)));
  writes[0]!.written.reject(new HoneError("HONE_ERR_INTERNAL", "a broken invariant"));
  await expect(one.settle()).rejects.toThrow("a broken invariant");
  const waiting = saving(false, 10);
  const full = async () => {
    throw FULL;
  };
  await waiting.saving.due(5, full);
  await expect(waiting.saving.due(15, full)).rejects.toThrow("disk full");
});

test("the last is written at once, after the one that is under way", async () => {
  const { saving: one, writes, told } = saving();
  await one.begin(state(1));
  const last = one.now(state(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual([]);
  writes[0]!.written.resolve("step-1");
  expect(await last).toBe("whole-2");
  expect(told).toEqual(["step-1@1", "whole-2@2"]);
});

test("checkpoint.async false: training waits until it is whole", async () => {
  const { saving: one, writes, told } = saving(false);
  const { written } = await one.begin(state(1));
  expect([writes, told]).toEqual([[], ["whole-1@1"]]);
  expect(await written).toBe("whole-1");
  expect(one.takeSeconds()).toEqual({ pause: 3, write: 3 });
});
