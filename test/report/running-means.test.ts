import { expect, test } from "vitest";
import { stretchOf } from "../../lib/metrics/index.ts";
import { runningMeans } from "../../lib/report/running-means.ts";

const record = (step: number, metrics: Record<string, number>) => stretchOf({ step, version: step, metrics });

test("few stretches are themselves; many become means over equally many steps", () => {
  const steps = [1, 3, 7, 5, 2].map((a, i) => record(i + 1, { a }));
  expect(runningMeans(steps, 5, 5)).toEqual(steps);
  expect(runningMeans(steps, 5, 3)).toEqual([
    { first: 1, step: 2, version: 2, steps: 2, metrics: { a: 2 } },
    { first: 3, step: 4, version: 4, steps: 2, metrics: { a: 6 } },
    { first: 5, step: 5, version: 5, steps: 1, metrics: { a: 2 } },
  ]);
  expect(runningMeans([], 0, 3)).toEqual([]);
});

test("stretches longer than asked for stand alone", () => {
  const long = { first: 1, step: 9, version: 9, steps: 9, metrics: { a: 1 } };
  expect(runningMeans([long, record(10, { a: 2 })], 10, 5)).toEqual([long, record(10, { a: 2 })]);
});
