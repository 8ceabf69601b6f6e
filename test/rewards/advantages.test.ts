import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AdvantageOptions,
  bestOfDifferences,
  groupAdvantages,
  spread,
} from "../../lib/rewards/advantages.ts";
import { golden, near } from "../fixtures/goldens.ts";

// Deliberate faults (mutants) that these tests detect: the sample deviation divides by n, the leave-one-out factor is
// missing, epsilon is 1e-4, the mean is summed without subtracting the first value (0.1 eight times leaves rounding).

interface AdvantageCase {
  readonly id: number;
  readonly rewards: readonly number[];
  readonly centred: readonly number[];
  readonly leave_one_out: readonly number[];
  readonly centred_div_pop_std: readonly number[];
  readonly centred_div_ddof1_std: readonly number[];
  readonly zero_variance: boolean;
}
const cases = golden<AdvantageCase[]>("advantages/cases.jsonl");

/** The goldens' four columns. Some spreads are near 1e-9, so the threshold is off. */
const COLUMNS = [
  ["centred", { divideBy: "none" }],
  ["leave_one_out", { divideBy: "none", baseline: "leave-one-out" }],
  ["centred_div_pop_std", { divideBy: "population-std" }],
  ["centred_div_ddof1_std", { divideBy: "sample-std" }],
] as const satisfies readonly (readonly [keyof AdvantageCase, AdvantageOptions])[];

describe.skipIf(!cases)("advantage goldens", () => {
  test.each(COLUMNS)("%s agrees in all 64 cases", (column, options) => {
    expect(cases!.length).toBe(64);
    for (const { id, rewards, [column]: expected, zero_variance: flat } of cases!) {
      const spreadOut = Math.max(...rewards.map(Math.abs)) > 1e3 || spread(rewards) < 1e-3;
      const tolerance = flat ? 0 : spreadOut ? 1e-6 : 1e-9; // the goldens' stated tolerances
      const got = groupAdvantages(rewards, { ...options, minSpread: 0 });
      const worst = got.findIndex((advantage, i) => !near(advantage, expected[i]!, tolerance));
      expect([id, worst, got[worst]]).toEqual([id, -1, undefined]);
    }
  });
});

test("the worked group of the difficulty-aware penalty, to the digits it was published with", () => {
  const rewards = [0.875, 1, 0, 0, 0, -0.75, -1, -1];
  const centered = [0.984375, 1.109375, 0.109375, 0.109375, 0.109375, -0.640625, -0.890625, -0.890625];
  expect(groupAdvantages(rewards, { divideBy: "none" })).toEqual(centered);
  const leaveOneOut = [1.125, 1.267857, 0.125, 0.125, 0.125, -0.732143, -1.017857, -1.017857];
  for (const [i, a] of groupAdvantages(rewards, { divideBy: "none", baseline: "leave-one-out" }).entries()) {
    expect(a).toBeCloseTo(leaveOneOut[i]!, 6);
  }
  expect(centered[0]! / groupAdvantages(rewards, { divideBy: "sample-std" })[0]!).toBeCloseTo(0.777581, 5);
  expect(centered[0]! / groupAdvantages(rewards, { divideBy: "population-std" })[0]!).toBeCloseTo(0.72736, 5);
});

test("rewards closer than the threshold give exact zeros, and so does a group of one or none", () => {
  expect(groupAdvantages([1, 1 + 9e-7])).toEqual([0, 0]);
  expect(groupAdvantages([1, 1 + 2e-6], { divideBy: "none" })[1]).toBeGreaterThan(0);
  expect(groupAdvantages(new Array(8).fill(0.1), { minSpread: 0 })).toEqual(new Array(8).fill(0));
  expect(groupAdvantages([3])).toEqual([0]);
  expect(groupAdvantages([])).toEqual([]);
});

const rewards = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 2, maxLength: 16 });
const anyOptions = fc.record({
  baseline: fc.constantFrom("mean" as const, "leave-one-out" as const),
  divideBy: fc.constantFrom("none" as const, "population-std" as const, "sample-std" as const),
});

test("advantages sum to zero, keep the order of rewards and ignore a common offset", () => {
  fc.assert(
    fc.property(rewards, anyOptions, (values, options) => {
      const advantages = groupAdvantages(values, options);
      const largest = Math.max(1, ...advantages.map(Math.abs));
      expect(Math.abs(advantages.reduce((a, b) => a + b, 0))).toBeLessThan(1e-8 * largest * values.length);
      for (let i = 1; i < values.length; i++) {
        if (values[i]! > values[0]!) expect(advantages[i]!).toBeGreaterThanOrEqual(advantages[0]!);
      }
      const shifted = groupAdvantages(
        values.map((value) => value + 8),
        options,
      );
      if (spread(values) > 1e-3)
        for (const [i, a] of shifted.entries()) expect(near(a, advantages[i]!, 1e-8)).toBe(true);
    }),
  );
});

describe("best of k", () => {
  /** All sets of `size` indices below n. */
  const setsOf = (n: number, size: number): number[][] =>
    size === 0
      ? [[]]
      : Array.from({ length: n }, (_, first) =>
          setsOf(n - first - 1, size - 1).map((rest) => [first, ...rest.map((j) => first + 1 + j)]),
        ).flat();
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

  test("is the mean over all sets with the member, less that over all without it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 3, maxLength: 8 }),
        fc.nat(),
        (rewards, any) => {
          const n = rewards.length;
          const k = 1 + (any % (n - 1));
          const best = setsOf(n, k).map((set) => ({ set, value: Math.max(...set.map((i) => rewards[i]!)) }));
          const of = (i: number, holds: boolean) =>
            mean(best.filter(({ set }) => set.includes(i) === holds).map(({ value }) => value));
          bestOfDifferences(rewards, k).forEach((difference, i) => {
            expect(difference).toBeCloseTo(of(i, true) - of(i, false), 10);
          });
        },
      ),
    );
  });

  test("its gradient is that of the expected best of k, over every group that a policy of three answers can draw", () => {
    const [worth, n, k] = [[0, 0.4, 1], 4, 2];
    const logits = [0.3, -0.2, 0.1];
    const policy = (z: readonly number[]) => {
      const sum = z.reduce((all, x) => all + Math.exp(x), 0);
      return z.map((x) => Math.exp(x) / sum);
    };
    const groups = (size: number): number[][] =>
      size === 0 ? [[]] : groups(size - 1).flatMap((rest) => [0, 1, 2].map((answer) => [answer, ...rest]));
    const chance = (p: readonly number[], group: readonly number[]) =>
      group.reduce((all, a) => all * p[a]!, 1);
    const expectedBest = (z: readonly number[]) =>
      groups(k).reduce((sum, g) => sum + chance(policy(z), g) * Math.max(...g.map((a) => worth[a]!)), 0);
    const p = policy(logits);
    for (const of of [0, 1, 2]) {
      const h = 1e-5;
      const moved = (by: number) => expectedBest(logits.map((x, i) => (i === of ? x + by : x)));
      const slope = (moved(h) - moved(-h)) / (2 * h);
      const estimate = groups(n).reduce((sum, g) => {
        const weights = bestOfDifferences(
          g.map((a) => worth[a]!),
          k,
        );
        const score = g.reduce((all, a, i) => all + weights[i]! * ((a === of ? 1 : 0) - p[of]!), 0);
        return sum + chance(p, g) * (k / n) * score;
      }, 0);
      expect(estimate).toBeCloseTo(slope, 8);
    }
  });

  test("of one right answer in eight it weighs that one, of seven in eight none", () => {
    const one = groupAdvantages([1, 0, 0, 0, 0, 0, 0, 0], { passAt: 4, divideBy: "none" });
    expect(one.map((a) => Number(a.toFixed(6)))).toEqual([1, ...new Array(7).fill(-0.142857)]);
    expect(groupAdvantages([0, 1, 1, 1, 1, 1, 1, 1], { passAt: 4 })).toEqual(new Array(8).fill(0));
  });

  test("a thousand members are no matter", () => {
    const rewards = Array.from({ length: 1000 }, (_, i) => i % 7);
    const sum = bestOfDifferences(rewards, 500).reduce((all, x) => all + Math.abs(x), 0);
    expect(Number.isFinite(sum)).toBe(true);
  });
});
