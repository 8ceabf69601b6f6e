import { expect, test } from "vitest";
import { pairedSpread, spreadOf, studentQuantile } from "../../lib/sweeps/spread.ts";

test.each([
  // from tables of Student's distribution, two-sided 95 %
  [1, 12.706],
  [2, 4.303],
  [3, 3.182],
  [4, 2.776],
  [5, 2.571],
  [9, 2.262],
  [10, 2.228],
  [30, 2.042],
  [120, 1.98],
])("95 %% of t with %i degrees of freedom lies within ±%f", (degrees, t) => {
  expect(studentQuantile(degrees)).toBeCloseTo(t, 3);
});

test("three seeds, by hand", () => {
  // mean 4, deviations -2 -1 3: variance 14 / 2 = 7; half-width 4.30265 sqrt(7 / 3) = 6.5724
  const spread = spreadOf([2, 3, 7])!;
  expect(spread).toMatchObject({ n: 3, mean: 4, deviation: Math.sqrt(7) });
  expect(spread.interval!.low).toBeCloseTo(4 - 6.5724, 4);
  expect(spread.interval!.high).toBeCloseTo(4 + 6.5724, 4);
  expect(spreadOf([5])).toEqual({ n: 1, mean: 5 });
  expect(spreadOf([])).toBeUndefined();
});

test("differences are taken seed by seed", () => {
  const a = new Map([
    [0, 1],
    [1, 5],
    [2, 9],
  ]);
  const b = new Map([
    [1, 8],
    [2, 10],
    [3, 100],
  ]);
  // the differences are 8 - 5 and 10 - 9
  expect(pairedSpread(a, b)).toMatchObject({ n: 2, mean: 2, deviation: Math.SQRT2 });
  expect(pairedSpread(a, new Map([[7, 1]]))).toBeUndefined();
});
