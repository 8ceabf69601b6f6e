import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { StallWatch, underWatch } from "../../../lib/orchestration/pipeline/stall-watch.ts";

const at = (progress: number) => ({ progress, stages: ["engine: 3 running"], culprit: "engine (3 running)" });

test("speaks up only after the limit without progress, and says who is waited for", () => {
  let now = 0;
  const watch = new StallWatch(10, { now: () => now });
  expect(watch.look(at(1))).toBeUndefined();
  now = 9_000;
  expect(watch.look(at(1))).toBeUndefined();
  expect(watch.look(at(2))).toBeUndefined();
  now = 18_999;
  expect(watch.look(at(2))).toBeUndefined();
  now = 19_000;
  expect(watch.look(at(2))).toMatchObject({
    code: "HONE_ERR_STALL",
    message: "nothing has moved for 10 s; everything waits for the engine (3 running)\n  engine: 3 running",
  });
});

test("a pause is no stall, and the time before it does not count", () => {
  let now = 0;
  const watch = new StallWatch(10, { now: () => now });
  watch.look(at(1));
  now = 9_000;
  expect(watch.look(undefined)).toBeUndefined();
  now = 60_000;
  expect(watch.look(undefined)).toBeUndefined();
  expect(watch.look(at(1))).toBeUndefined();
  now = 69_999;
  expect(watch.look(at(1))).toBeUndefined();
  now = 70_000;
  expect(watch.look(at(1))).toMatchObject({ code: "HONE_ERR_STALL" });
});

test("work is watched until it is done: its value and its error come through", async () => {
  const clock = { now: () => performance.now() };
  expect(await underWatch(Promise.resolve(3), 1, clock, () => at(1))).toBe(3);
  await expect(underWatch(Promise.reject(new Error("mine")), 1, clock, () => at(1))).rejects.toThrow("mine");
  const never = new Promise<never>(() => {});
  await expect(underWatch(never, 0.05, clock, () => at(1))).rejects.toMatchObject({ code: "HONE_ERR_STALL" });
});

test("time in which everything stood still is no stall", async () => {
  let looks = 0;
  const position = () => {
    looks += 1;
    return at(1);
  };
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  const standingStill = async () => {
    while (looks === 0) await sleep(1);
    Atomics.wait(nothing, 0, 0, 1500); // blocks the thread, so that the watch cannot look at its clock
    for (const before = looks; looks === before; ) await sleep(1);
    return "done";
  };
  const clock = { now: () => performance.now() };
  expect(await underWatch(standingStill(), 1, clock, position)).toBe("done");
});
