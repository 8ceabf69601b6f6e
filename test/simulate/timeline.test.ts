import { expect, test } from "vitest";
import { Timeline } from "../../lib/simulate/timeline.ts";

test("what is earlier comes first, at one time what was asked for first", async () => {
  const timeline = new Timeline();
  const came: string[] = [];
  for (const [at, name] of [
    [3, "c"],
    [1, "a"],
    [3, "d"],
    [2, "b"],
    [0.5, "0"],
  ] as const)
    timeline.at(at, () => came.push(`${name} ${timeline.now()}`));
  await timeline.run(() => came.length === 5);
  expect(came).toEqual(["0 500", "a 1000", "b 2000", "c 3000", "d 3000"]);
  expect(timeline.moments).toBe(5);
});

test("hundreds in any order come in theirs", async () => {
  const timeline = new Timeline();
  const times = Array.from({ length: 500 }, (_, i) => (i * 7919) % 503);
  const came: number[] = [];
  for (const at of times) timeline.at(at, (tag) => came.push(tag), at);
  await timeline.run(() => came.length === times.length);
  expect(came).toEqual([...times].sort((a, b) => a - b));
});

test("time stands still until the stages have done all they can", async () => {
  const timeline = new Timeline();
  const seen: number[] = [];
  const stage = async () => {
    await timeline.after(5);
    for (let hop = 0; hop < 50; hop++) await undefined;
    seen.push(timeline.seconds);
  };
  void stage();
  timeline.at(5.001, () => {});
  await timeline.run(() => timeline.seconds > 5);
  expect(seen).toEqual([5]);
});

test("a moment that has passed comes at once, and nothing left to happen is an error", async () => {
  const timeline = new Timeline();
  timeline.at(4, () => timeline.at(1, () => {}));
  await expect(timeline.run(() => false)).rejects.toMatchObject({ code: "HONE_ERR_STALL" });
  expect(timeline.seconds).toBe(4);
});
