import fc from "fast-check";
import { expect, test } from "vitest";
import type { RolloutGroup, ScoredRollout } from "../../lib/records.ts";
import { type AdvantageOptions, groupAdvantages } from "../../lib/rewards/advantages.ts";
import { batchAdvantages } from "../../lib/rewards/batch-advantages.ts";

// Deliberate faults (mutants) that these tests detect: the deviation is taken about 0 instead of the mean, the
// statistics include dropped groups, one domain's statistics include another's, the mean of the groups' means, n - 1.

interface Drawn {
  readonly domain: string;
  readonly rewards: readonly number[];
  readonly dropped: boolean;
}

const groupOf = ({ domain, rewards, dropped }: Drawn, options: AdvantageOptions): RolloutGroup => ({
  problem: { id: 0, domain, family: "f", level: 0, question: "", verifier: "", reference: null },
  rollouts: groupAdvantages(rewards, options).map(
    (advantage, i) => ({ reward: rewards[i]!, advantage }) as ScoredRollout,
  ),
  solveRate: 0,
  submittedVersion: 0,
  ...(dropped && { dropped: "zero-advantage" as const }),
});

const weigh = (drawn: readonly Drawn[], options: AdvantageOptions): number[][] =>
  batchAdvantages(
    drawn.map((one) => groupOf(one, options)),
    options,
  ).map(({ rollouts }) => rollouts.map(({ advantage }) => advantage));

const average = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const deviation = (values: readonly number[]) =>
  Math.sqrt(average(values.map((value) => (value - average(values)) ** 2)));

/** The rule of docs/reference/recipe.md, computed one rollout at a time. */
function byHand(
  drawn: readonly Drawn[],
  { baseline, divideBy }: Required<Pick<AdvantageOptions, "baseline" | "divideBy">>,
) {
  const kept = drawn.filter(({ dropped }) => !dropped);
  const scopeOf = (choice: string, domain: string) =>
    kept.filter((one) => choice.startsWith("batch") || one.domain === domain);
  const differenceOf = ({ domain, rewards }: Drawn, i: number): number => {
    const rest = rewards.filter((_, j) => j !== i);
    if (baseline === "mean") return rewards[i]! - average(rewards);
    if (baseline === "leave-one-out") return rewards[i]! - average(rest);
    return rewards[i]! - average(scopeOf(baseline, domain).flatMap((one) => one.rewards));
  };
  return drawn.map((one) =>
    one.rewards.map((_, i) => {
      if (one.dropped) return undefined;
      if (divideBy === "none") return differenceOf(one, i);
      const all = scopeOf(divideBy, one.domain).flatMap((other) =>
        other.rewards.map((__, j) => differenceOf(other, j)),
      );
      return differenceOf(one, i) / (deviation(all) + 1e-6);
    }),
  );
}

const drawn = fc.array(
  fc.record({
    domain: fc.constantFrom("math", "code", "logic"),
    // two rewards are equal or differ by more than the threshold below which a group has no signal
    rewards: fc.array(
      fc.integer({ min: -40, max: 40 }).map((n) => n / 8),
      { minLength: 2, maxLength: 6 },
    ),
    dropped: fc.boolean(),
  }),
  { maxLength: 7 },
);
const options = fc.record({
  baseline: fc.constantFrom("mean", "leave-one-out", "batch-mean", "domain-mean"),
  divideBy: fc.constantFrom("batch-std", "domain-std", "none"),
} as const);

test("every rollout's is its difference over the deviation of its batch or domain", () => {
  fc.assert(
    fc.property(drawn, options, (groups, how) => {
      const got = weigh(groups, how);
      for (const [g, expected] of byHand(groups, how).entries())
        for (const [i, value] of expected.entries())
          if (value !== undefined) expect(got[g]![i]).toBeCloseTo(value, 6);
    }),
    { numRuns: 300 },
  );
});

test("with batch-mean and batch-std advantages have mean 0 and deviation 1 over the batch", () => {
  fc.assert(
    fc.property(drawn, (groups) => {
      const kept = groups.filter(({ dropped, rewards }) => !dropped && new Set(rewards).size > 1);
      if (kept.length === 0) return;
      const all = weigh(kept, { baseline: "batch-mean", divideBy: "batch-std" }).flat();
      expect(average(all)).toBeCloseTo(0, 9);
      expect(deviation(all)).toBeCloseTo(1, 4);
    }),
  );
});

test("a worked batch: two groups of two domains, and one that is dropped", () => {
  const groups = [
    { domain: "math", rewards: [1, 0], dropped: false },
    { domain: "code", rewards: [3, 1], dropped: false },
    { domain: "math", rewards: [9, 9], dropped: true },
  ];
  const rounded = (how: AdvantageOptions) =>
    weigh(groups, how)
      .slice(0, 2)
      .map((of) => of.map((advantage) => Number(advantage.toFixed(4))));
  // differences ±0.5 and ±1: the deviation is sqrt(0.625) over all four, 0.5 and 1 over each domain's two
  expect(rounded({ baseline: "mean", divideBy: "batch-std" })).toEqual([
    [0.6325, -0.6325],
    [1.2649, -1.2649],
  ]);
  expect(rounded({ baseline: "mean", divideBy: "domain-std" })).toEqual([
    [1, -1],
    [1, -1],
  ]);
  // the mean of 1, 0, 3, 1 is 1.25; the domains' means are 0.5 and 2
  expect(rounded({ baseline: "batch-mean", divideBy: "none" })).toEqual([
    [-0.25, -1.25],
    [1.75, -0.25],
  ]);
  expect(rounded({ baseline: "domain-mean", divideBy: "none" })).toEqual([
    [0.5, -0.5],
    [1, -1],
  ]);
});

test("a batch whose rewards are all equal gives exact zeros, and a form of the group alone is left as it is", () => {
  const flat = [0.1, 0.1, 0.1].map(() => ({ domain: "math", rewards: [0.1, 0.1, 0.1], dropped: false }));
  expect(weigh(flat, { baseline: "batch-mean", divideBy: "batch-std" }).flat()).toEqual(new Array(9).fill(0));
  const groups = [groupOf({ domain: "math", rewards: [0, 1], dropped: false }, {})];
  expect(batchAdvantages(groups, {})).toBe(groups);
});

test("a group says what it was divided by, and an empty step stays empty", () => {
  const how = { baseline: "batch-mean", divideBy: "batch-std" } as const;
  const [first] = batchAdvantages([groupOf({ domain: "math", rewards: [0, 4], dropped: false }, how)], how);
  expect(first!.batchwide).toEqual({ baseline: 2, divisor: 2 + 1e-6 });
  expect(batchAdvantages([], how)).toEqual([]);
});
