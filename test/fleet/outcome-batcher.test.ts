import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OutcomeBatcher, type SettledOutcome } from "../../lib/fleet/outcome-batcher.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const outcome = (number: number) => ({ number, answer: { poison: true } }) as unknown as SettledOutcome;

function sent() {
  const batches: number[][] = [];
  const outcomes = new OutcomeBatcher((batch) => batches.push(batch.map(({ number }) => number)));
  return { batches, outcomes };
}

test("outcomes of one moment go together, in their order, and none waits longer than that", () => {
  const { batches, outcomes } = sent();
  outcomes.add(outcome(2), false);
  vi.advanceTimersByTime(6);
  outcomes.add(outcome(1), false);
  expect(batches).toEqual([]);
  vi.advanceTimersByTime(6);
  expect(batches).toEqual([[2, 1]]);
  outcomes.add(outcome(3), false);
  vi.advanceTimersByTime(6);
  expect(batches).toHaveLength(1);
  vi.advanceTimersByTime(6);
  expect(batches).toEqual([[2, 1], [3]]);
});

test("the last one under way waits for nothing, and takes with it what waits", () => {
  const { batches, outcomes } = sent();
  outcomes.add(outcome(0), false);
  outcomes.add(outcome(1), true);
  expect(batches).toEqual([[0, 1]]);
  vi.advanceTimersByTime(100);
  expect(batches).toHaveLength(1);
});

test("what waits at the end is sent", () => {
  const { batches, outcomes } = sent();
  outcomes.flush();
  expect(batches).toEqual([]);
  outcomes.add(outcome(0), false);
  outcomes.flush();
  expect(batches).toEqual([[0]]);
});
