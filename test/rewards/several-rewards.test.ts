import fc from "fast-check";
import { expect, test } from "vitest";
import type { Problem, Rollout, ScoredRollout, ScoredVerdict, Verdict } from "../../lib/records.ts";
import { rewardShares, sumOfShares } from "../../lib/rewards/several-rewards.ts";
import { type ShapingOptions, shapeGroup, withRewards } from "../../lib/rewards/shape-group.ts";

// Deliberate faults (mutants) that these tests detect: weights are not divided by their sum, a reward that does not
// apply counts as 0 in its mean, the penalty is left out.

type Member = Pick<ScoredRollout, "verdict" | "reward" | "penalty" | "penaltyScale">;
const member = (parts: Record<string, number>, penalty = 0): Member => ({
  verdict: { status: "partial", score: 0.5, reason: "", parts },
  reward: 0.5 + penalty,
  penalty,
  penaltyScale: 1,
});

const sums = (members: readonly Member[], weights: Record<string, number> | undefined) =>
  rewardShares(members, weights).map(sumOfShares);

test("each reward is normalised in its group, then summed by weight", () => {
  const rows = fc.array(
    fc.record({ a: fc.integer({ min: -9, max: 9 }), b: fc.integer({ min: -900, max: 900 }) }),
    { minLength: 2, maxLength: 8 },
  );
  fc.assert(
    fc.property(rows, (parts) => {
      const z = (name: "a" | "b") => {
        const values = parts.map((one) => one[name]);
        const mean = values.reduce((x, y) => x + y, 0) / values.length;
        const std = Math.sqrt(values.reduce((x, y) => x + (y - mean) ** 2, 0) / values.length);
        return values.map((value) => (std === 0 ? 0 : (value - mean) / (std + 1e-6)));
      };
      const got = sums(
        parts.map((one) => member(one)),
        { a: 3, b: 1 },
      );
      for (const [i, sum] of got.entries()) expect(sum).toBeCloseTo(0.75 * z("a")[i]! + 0.25 * z("b")[i]!, 6);
    }),
  );
});

test("one that does not apply to a rollout adds nothing to it and is in no mean", () => {
  const got = sums([member({ a: 1, b: 0 }), member({ a: 1, b: 4 }), member({ a: 1 })], { a: 1, b: 1 });
  expect(got.map((sum) => Number(sum.toFixed(5)))).toEqual([-0.5, 0.5, 0]);
});

test("the length penalty is one more reward of weight 1, and a domain with one reward has that", () => {
  const shares = rewardShares([member({ a: 1 }, -0.2), member({ a: 0 }, 0)], { a: 2 });
  expect(shares[0]!.map(({ name, weight }) => [name, weight])).toEqual([
    ["a", 1],
    ["length penalty", 1],
  ]);
  expect(sumOfShares(shares[0]!)).toBeCloseTo(0, 4);
  const one = rewardShares([member({}, 0), { ...member({}, 0), reward: 9 }], undefined);
  expect(one[1]!.map(({ name }) => name)).toEqual(["reward"]);
  expect(sumOfShares(one[1]!)).toBeCloseTo(1, 5);
});

const problem = {
  id: 1,
  domain: "mine",
  family: "",
  level: 0,
  question: "",
  verifier: "",
  reference: 0,
} as Problem;
const rollout = (attempt: number): Rollout =>
  ({ problem, attempt, tokens: new Int32Array(4), finish: "eos" }) as Rollout;
const judged = (a: number, b: number): ScoredVerdict => ({
  status: "partial",
  score: (a + b) / 2,
  reason: "",
  parts: { a, b },
});
const shaping: ShapingOptions = {
  lengthPenalty: { kind: "none" },
  advantage: { divideBy: "none" },
  filter: "score",
  minGroupSize: 2,
  partWeights: { mine: { a: 1, b: 1 } },
};
const shape = (verdicts: readonly Verdict[], options: ShapingOptions) =>
  shapeGroup(
    problem,
    verdicts.map((_, i) => rollout(i)),
    verdicts,
    0,
    options,
  ).group;

test("rewards whose means are equal are told apart: a group of them is kept, and one without any difference is not", () => {
  const apart = [judged(1, 0), judged(0, 1), judged(0.5, 0.5)];
  const { partWeights: _, ...summed } = shaping;
  expect(shape(apart, summed).dropped).toBe("zero-advantage");
  const lopsided = { ...shaping, partWeights: { mine: { a: 3, b: 1 } } };
  const { dropped, rollouts } = shape(apart, lopsided);
  expect(dropped).toBeUndefined();
  const [first, second] = rollouts.map(({ advantage }) => advantage);
  expect(first).toBeGreaterThan(0.5);
  expect(second).toBeCloseTo(-first!, 9);
  expect(shape([judged(1, 0), judged(1, 0)], shaping).dropped).toBe("zero-advantage");
  expect(shape([judged(1, 0), judged(1, 0)], { ...shaping, filter: "none" }).dropped).toBeUndefined();
});

test("rewards of a hook stand in place of all others", () => {
  const group = withRewards(
    shape([judged(1, 0), judged(0, 0.9)], { ...shaping, filter: "none" }),
    [5, 7],
    shaping,
  );
  expect(group.rollouts.map(({ advantage }) => Number(advantage.toFixed(4)))).toEqual([-1, 1]);
  expect(group.rollouts[0]!.shares!.map(({ name }) => name)).toEqual(["hook"]);
});
