import { expect, test } from "vitest";
import {
  bootstrapInterval,
  deviation,
  mean,
  median,
  quantile,
} from "../../../lib/suites/statistics/resampling.ts";

const VALUES = [0.3, 0.1, 0.9, 0.4, 0.4, 0.7];

test("quantiles, median and deviation are numpy's", () => {
  const ascending = [...VALUES].sort();
  const found = [0.025, 0.5, 0.975].map((q) => quantile(ascending, q));
  for (const [i, value] of [0.125, 0.4, 0.875].entries()) expect(found[i]).toBeCloseTo(value, 12);
  expect([median(VALUES), median([1, 5, 2, 8])]).toEqual([0.4, 3.5]);
  expect(deviation(VALUES)).toBeCloseTo(0.28751811537130434, 12);
  expect([deviation([1]), mean([1, 2, 6])]).toEqual([undefined, 3]);
});

/** The distribution of the mean over all n^n resamples. */
function everyMean(values: readonly number[]): number[] {
  let sums = [0];
  for (const _ of values) sums = sums.flatMap((sum) => values.map((value) => sum + value));
  return sums.map((sum) => sum / values.length).sort((a, b) => a - b);
}

test("the interval is that of all resamples, as far as drawing some can tell", () => {
  const means = everyMean(VALUES);
  const { low, high } = bootstrapInterval(VALUES, 20_000)!;
  expect(low).toBeCloseTo(quantile(means, 0.025), 2);
  expect(high).toBeCloseTo(quantile(means, 0.975), 2);
});

test("of many values it is near the normal one", () => {
  const values = Array.from({ length: 2000 }, (_, i) => Number(i % 4 === 0));
  const { low, high } = bootstrapInterval(values)!;
  const half = 1.96 * Math.sqrt((0.25 * 0.75) / 2000);
  expect((high - low) / 2 / half).toBeGreaterThan(0.9);
  expect((high - low) / 2 / half).toBeLessThan(1.1);
  expect((high + low) / 2).toBeCloseTo(0.25, 2);
});

test("it is always the same, and none of one value", () => {
  expect(bootstrapInterval(VALUES)).toEqual(bootstrapInterval(VALUES));
  expect(bootstrapInterval([1])).toBeUndefined();
  expect(bootstrapInterval([1, 1, 1])).toEqual({ low: 1, high: 1 });
});
