import { expect, test } from "vitest";
import { unlessStopped } from "../../../lib/orchestration/run/hook-grace.ts";

const nobodyLeft = () => expect.unreachable("it was left behind");

test("a hook's result or error is the run's, also when it comes just after the stop", async () => {
  const stopping = new AbortController();
  expect(await unlessStopped(Promise.resolve(3), stopping.signal, nobodyLeft)).toBe(3);
  await expect(unlessStopped(Promise.reject(new Error("no")), stopping.signal, nobodyLeft)).rejects.toThrow(
    "no",
  );
  const soon = new Promise((resolve) => setTimeout(() => resolve("saved"), 20));
  const pending = unlessStopped(soon, stopping.signal, nobodyLeft);
  stopping.abort();
  expect(await pending).toBe("saved");
});

test("a hook that goes on after the stop is left behind, and its late error is nobody's", async () => {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 2100));
  const left: number[] = [];
  expect(await unlessStopped(late, AbortSignal.abort(), (ms) => void left.push(ms))).toBeUndefined();
  expect(left).toEqual([2000]);
  await new Promise((resolve) => setTimeout(resolve, 200));
});
