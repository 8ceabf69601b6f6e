import { expect, test } from "vitest";
import { curveOf } from "../../lib/sweeps/curves.ts";
import { syntheticCell } from "./synthetic-cells.ts";

const after = { math: [0, 0] } as const;

test("a curve is the mean over seeds with a standard deviation to each side, as far as each seed goes", () => {
  const cell = syntheticCell("a", [
    { seed: 0, after, metrics: { m: [1, 2, 3] } },
    { seed: 1, after, metrics: { m: [3, 6] } },
  ]);
  const curve = curveOf(cell, "m", false)!;
  expect(curve.steps).toEqual([1, 2, 3]);
  expect(curve.mean).toEqual([2, 4, 3]);
  expect(curve.low.map((v) => Number(v.toFixed(4)))).toEqual([0.5858, 1.1716, 3]);
  expect(curve.high.map((v) => Number(v.toFixed(4)))).toEqual([3.4142, 6.8284, 3]);
  expect(curveOf(cell, "other", false)).toBeUndefined();
});

test("each run is smoothed before runs are averaged", () => {
  const values = Array.from({ length: 12 }, (_, i) => (i === 5 ? 3 : 0));
  const cell = syntheticCell("a", [{ seed: 0, after, metrics: { m: values } }]);
  expect(curveOf(cell, "m", true)!.mean).toEqual([0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0]);
  expect(curveOf(cell, "m", false)!.mean).toEqual(values);
});
