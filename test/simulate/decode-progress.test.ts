import { expect, test } from "vitest";
import { DecodeProgress } from "../../lib/simulate/decode-progress.ts";

const law = { fixed: 0.01, perSequence: 1e-3, perContextToken: 1e-5 };

/** The sum over steps, taken at the middle of each step; the formula is its closed form. */
function summed(batch: number, context: number, steps: number): number {
  let seconds = 0;
  for (let k = 0; k < steps; k++)
    seconds += law.fixed + law.perSequence * batch + law.perContextToken * (context + batch * (k + 0.5));
  return seconds;
}

function running(batch: number, context: number): DecodeProgress {
  const progress = new DecodeProgress(law);
  progress.batch = batch;
  progress.context = context;
  return progress;
}

test("the time of many steps is the sum of theirs", () => {
  expect(running(7, 1000).timeOf(500)).toBeCloseTo(summed(7, 1000, 500), 9);
});

test("advancing to that time makes those steps, in one go or in many", () => {
  const seconds = summed(7, 1000, 500);
  const [whole, parts] = [running(7, 1000), running(7, 1000)];
  whole.advance(seconds);
  for (let i = 1; i <= 40; i++) parts.advance((i * seconds) / 40);
  for (const { steps, context, tokens, busy } of [whole, parts]) {
    expect(steps).toBeCloseTo(500, 6);
    expect(context).toBeCloseTo(1000 + 7 * 500, 4);
    expect(tokens).toBeCloseTo(3500, 4);
    expect(busy).toBeCloseTo(seconds, 9);
  }
});

test("a pause and a slower machine put everything off", () => {
  const progress = running(2, 0);
  const before = progress.timeOf(100);
  progress.pause(3);
  expect(progress.timeOf(100)).toBeCloseTo(before + 3, 9);
  progress.advance(2);
  expect(progress.steps).toBe(0);
  progress.speed = 0.5;
  expect(progress.timeOf(100)).toBeCloseTo(2 * before + 3, 9);
});

test("versions add up over steps, and nothing happens where nothing runs", () => {
  const progress = running(1, 0);
  progress.version = 3;
  progress.reach(10, progress.timeOf(10));
  progress.version = 4;
  progress.reach(15, progress.timeOf(15));
  expect(progress.versions).toBe(3 * 10 + 4 * 5);
  const idle = new DecodeProgress(law);
  idle.advance(100);
  expect([idle.steps, idle.busy, idle.time]).toEqual([0, 0, 100]);
});
