import type { RewardShare, ScoredRollout } from "../records.ts";
import { groupAdvantages } from "./advantages.ts";

type Shaped = Pick<ScoredRollout, "verdict" | "reward" | "penalty" | "penaltyScale">;

/**
 * Normalises each reward of a group separately, over the rollouts to which it applies: (s - mean) / (population
 * deviation + 1e-6), and 0 where it does not apply; weights are divided by their sum. The length penalty's share is
 * one more reward, of weight 1; a domain without several rewards has one.
 * Source: Liu et al. 2026, "GDPO: Group reward-Decoupled Normalization Policy Optimization" (arXiv 2601.05242).
 * @param weights of the domain's rewards by name, any scale; undefined if it has one
 * @returns the shares of each member
 */
export function rewardShares(
  members: readonly Shaped[],
  weights: Readonly<Record<string, number>> | undefined,
): RewardShare[][] {
  const penalties = members.map(({ penaltyScale, penalty }) => penaltyScale * penalty);
  const worths = members.map(({ reward }, i) => reward - penalties[i]!);
  const total = Object.values(weights ?? {}).reduce((sum, weight) => sum + weight, 0);
  const columns = Object.entries(weights ?? {}).map(([name, weight]) => {
    const scores = members.map(({ verdict }) => verdict.parts?.[name]);
    return column(name, weight / total, scores);
  });
  if (weights === undefined) columns.push(column("reward", 1, worths));
  if (penalties.some((penalty) => penalty !== 0)) columns.push(column("length penalty", 1, penalties));
  return members.map((_, i) => columns.map((shares) => shares[i]!));
}

/** Shares for rewards that a hook set, replacing all others. */
export function hookShares(rewards: readonly number[]): RewardShare[][] {
  return column("hook", 1, rewards).map((share) => [share]);
}

function column(name: string, weight: number, values: readonly (number | undefined)[]): RewardShare[] {
  const there = groupAdvantages(values.filter((value) => value !== undefined));
  let next = 0;
  return values.map((value) => ({ name, weight, normalised: value === undefined ? 0 : there[next++]! }));
}

/** Returns the weighted sum of a rollout's shares, which replaces its reward. */
export const sumOfShares = (shares: readonly RewardShare[]): number =>
  shares.reduce((sum, { weight, normalised }) => sum + weight * normalised, 0);
