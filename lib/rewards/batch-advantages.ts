import type { RolloutGroup } from "../records.ts";
import { type AdvantageOptions, isBatchwide, MIN_SPREAD, STD_EPSILON, spread } from "./advantages.ts";

/**
 * The groups of a step with advantages that need all of them: A_i = (d_i - mean) / (deviation + 1e-6), where d_i is
 * the result of `groupAdvantages`, the mean is 0 with a group baseline, and both are over every judged rollout of the
 * kept groups, or of the domain's among them, each counted once. Equal rewards over a batch give exactly 0. Dropped
 * groups are unchanged, and so are all groups if nothing depends on the batch.
 * Source: Hu et al. 2025, "REINFORCE++": with a baseline of the group (baseline "mean", divideBy "batch-std"), and
 * its global form ("batch-mean", "batch-std").
 */
export function batchAdvantages(
  groups: readonly RolloutGroup[],
  { baseline = "mean", divideBy = "population-std" }: AdvantageOptions,
): readonly RolloutGroup[] {
  if (!isBatchwide(baseline) && !isBatchwide(divideBy)) return groups;
  const kept = groups.filter(({ dropped }) => dropped === undefined);
  const meanOf = byScope(baseline, kept, centre);
  const centred = new Map(
    kept.map((group) => {
      const { mean, isFlat } = meanOf(group) ?? ZERO;
      return [group, withAdvantages(group, (d) => (isFlat ? 0 : d - mean))] as const;
    }),
  );
  const divisorOf = byScope(divideBy, [...centred.values()], (d) => deviation(d) + STD_EPSILON);
  return groups.map((group) => {
    const mine = centred.get(group);
    if (mine === undefined) return group;
    const divisor = divisorOf(mine) ?? 1;
    const { mean } = meanOf(group) ?? ZERO;
    return { ...withAdvantages(mine, (d) => d / divisor), batchwide: { baseline: mean, divisor } };
  });
}

const ZERO = { mean: 0, isFlat: false };

/** Returns a statistic of all differences of a group's batch, or domain; undefined if `choice` depends on the group alone. */
function byScope<T>(
  choice: string,
  groups: readonly RolloutGroup[],
  make: (differences: readonly number[]) => T,
): (group: RolloutGroup) => T | undefined {
  if (!isBatchwide(choice)) return () => undefined;
  const scopeOf = ({ problem }: RolloutGroup) => (choice.startsWith("domain-") ? problem.domain : "");
  const differences = new Map<string, number[]>();
  for (const group of groups) {
    const of = differences.get(scopeOf(group)) ?? [];
    differences.set(scopeOf(group), of);
    for (const { advantage } of group.rollouts) of.push(advantage);
  }
  const made = new Map([...differences].map(([scope, of]) => [scope, make(of)]));
  return (group) => made.get(scopeOf(group));
}

/** Subtracting the first value before summing keeps the digits of numbers that are large and close. */
function meanOf(values: readonly number[]): number {
  const [origin = 0] = values;
  return origin + values.reduce((sum, value) => sum + (value - origin), 0) / values.length;
}

const centre = (values: readonly number[]) => ({
  mean: meanOf(values),
  isFlat: spread(values) < MIN_SPREAD,
});

/** Population standard deviation about the mean. */
function deviation(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

const withAdvantages = (group: RolloutGroup, of: (difference: number) => number): RolloutGroup => ({
  ...group,
  rollouts: group.rollouts.map((member) => ({ ...member, advantage: of(member.advantage) })),
});
