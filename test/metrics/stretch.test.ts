import { expect, test } from "vitest";
import { StretchSum, stepsWith, stretchOf } from "../../lib/metrics/index.ts";

const record = (step: number, metrics: Record<string, number>) => stretchOf({ step, version: step, metrics });

function together(...parts: Parameters<StretchSum["add"]>[0][]) {
  const sum = new StretchSum();
  for (const part of parts) sum.add(part);
  return sum.stretch;
}

test("each metric's mean is over the steps that have it, also when means are put together again", () => {
  const left = together(record(1, { a: 1 }), record(2, { a: 3, b: 5 }));
  expect(left).toEqual({
    first: 1,
    step: 2,
    version: 2,
    steps: 2,
    metrics: { a: 2, b: 5 },
    counts: { b: 1 },
  });
  const right = together(record(3, { a: 8, b: 1 }), record(4, { b: 3 }));
  const all = together(left, right);
  expect(all).toEqual({
    first: 1,
    step: 4,
    version: 4,
    steps: 4,
    metrics: { a: 4, b: 3 },
    counts: { a: 3, b: 3 },
  });
  expect([stepsWith(all, "a"), stepsWith(left, "a"), stepsWith(left, "c")]).toEqual([3, 2, 0]);
});
