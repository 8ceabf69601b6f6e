// Deliberate faults (mutants) that these tests detect: the variance is divided by n - 1, quantiles are interpolated
// from the wrong end.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MetricSheet, Moments, MomentsBy, quantilesOf } from "../../lib/metrics/distribution.ts";

const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 });

/** A type 7 quantile by its definition, on sorted values. */
function sortedQuantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = q * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (position - below) * (sorted[above]! - sorted[below]!);
}

describe("quantilesOf", () => {
  test("equals sorting, for any values and any ascending quantiles", () => {
    const qs = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
    fc.assert(
      fc.property(numbers, qs, (values, unsorted) => {
        const ascending = [...unsorted].sort((a, b) => a - b);
        const expected = ascending.map((q) => sortedQuantile(values, q));
        expect(quantilesOf(Float64Array.from(values), ascending)).toEqual(expected);
      }),
    );
  });

  test("takes many equal values, as a step at lag 0 has them", () => {
    const values = new Float64Array(10_000);
    values[77] = 1;
    expect(quantilesOf(values, [0.5, 0.999, 1])).toEqual([0, 0, 1]);
  });

  test("ends on values that are not numbers", () => {
    expect(quantilesOf(new Float64Array(1000).fill(Number.NaN), [0.1, 0.9])).toHaveLength(2);
  });

  test("of nothing is NaN", () => {
    expect(quantilesOf(new Float64Array(0), [0.5])).toEqual([Number.NaN]);
  });
});

describe("Moments", () => {
  test("equals two passes over the values", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const moments = new Moments();
        for (const value of values) moments.add(value);
        const mean = values.reduce((a, b) => a + b, 0) / values.length;
        const variance = values.reduce((a, v) => a + (v - mean) ** 2, 0) / values.length;
        expect(moments.mean).toBe(mean);
        // the tolerance of a one-pass variance: 200 values of 1e6 in f64
        expect(Math.abs(moments.std ** 2 - variance)).toBeLessThan(1e-9 * (1 + variance + mean ** 2));
        // + 0 turns -0 into 0
        expect([moments.min + 0, moments.max + 0, moments.n]).toEqual([
          Math.min(...values) + 0,
          Math.max(...values) + 0,
          values.length,
        ]);
      }),
    );
  });

  test("of nothing is NaN, not 0", () => {
    const none = new Moments();
    expect([none.mean, none.std, none.min, none.max]).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ]);
  });

  test("by key keeps keys apart", () => {
    const by = new MomentsBy<string>();
    by.add("a", 1);
    by.add("b", 5);
    by.add("a", 3);
    expect([...by.entries()].map(([key, m]) => [key, m.mean])).toEqual([
      ["a", 2],
      ["b", 5],
    ]);
  });
});

test("a sheet leaves out what does not exist or is not finite", () => {
  const sheet = new MetricSheet();
  sheet.put("nan", Number.NaN);
  sheet.put("infinite", Number.POSITIVE_INFINITY);
  sheet.put("undefined", undefined);
  sheet.share("no denominator", 0, 0);
  sheet.share("half", 1, 2);
  sheet.put("zero", 0);
  sheet.quantiles("none", new Float64Array(0), [0.5]);
  sheet.quantiles("q", Float64Array.of(3, 1), [0.5, 0.999]);
  expect(sheet.values).toEqual({ half: 0.5, zero: 0, "q/p50": 2, "q/p99.9": 2.998 });
});
