import type { Recipe } from "../config/index.ts";
import type { ResettledGroup } from "../orchestration/index.ts";
import { type Rollout, type ScoredRollout, sampledTokens } from "../records.ts";
import { clipRange } from "../shared/objectives/objective-forms.ts";
import type {
  ExplainedGroup,
  ExplainedPenalty,
  ExplainedReward,
  ExplainedSequence,
  ExplainedToken,
} from "./explanation.ts";
import type { ObjectiveSettings, SequenceTerms, TokenTerm } from "./objective-terms.ts";
import { sampledPositions } from "./recomputed-step.ts";

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The constant of lib/rewards: rewards whose range is smaller get advantages of 0, and it is added to a deviation
 * before a division.
 */
const EPSILON = 1e-6;

export function explainedGroup(
  { group, rewards: hooked, advantages }: ResettledGroup,
  recipe: Recipe,
): ExplainedGroup {
  const { baseline, passAt, divideBy } = recipe.advantages;
  const rewards = group.rollouts.map(rewardOf);
  const middle = rewards.length === 0 ? 0 : mean(rewards);
  return {
    ...(group.dropped && { dropped: group.dropped }),
    size: rewards.length,
    solveRate: group.solveRate,
    mean: middle,
    deviation: rewards.length === 0 ? 0 : Math.sqrt(mean(rewards.map((reward) => (reward - middle) ** 2))),
    lowest: rewards.length === 0 ? 0 : Math.min(...rewards),
    highest: rewards.length === 0 ? 0 : Math.max(...rewards),
    baseline: passAt === undefined ? baseline : `pass@${passAt}`,
    divideBy,
    byHook: hooked !== undefined,
    advantagesByHook: advantages !== undefined,
    ...(group.batchwide && { batchwide: group.batchwide }),
    members: group.rollouts.map(({ rollout, verdict, reward, advantage, masked = false }) => ({
      attempt: rollout.attempt,
      status: verdict.status,
      score: verdict.score,
      tokens: sampledTokens(rollout),
      reward,
      advantage,
      masked,
    })),
  };
}

/** A rollout's reward, or, if several rewards are normalised one by one, their weighted sum. */
const rewardOf = ({ reward, shares }: ScoredRollout): number =>
  shares?.reduce((sum, { weight, normalised }) => sum + weight * normalised, 0) ?? reward;

/** @param worth R, the verdict's reward without a length penalty */
export function explainedReward(
  member: ScoredRollout,
  worth: number,
  group: ExplainedGroup,
  recipe: Recipe,
): ExplainedReward {
  const n = group.size;
  const stands = rewardOf(member);
  const others = (group.mean * n - stands) / Math.max(1, n - 1);
  const spread = group.highest - group.lowest;
  const divisor = {
    none: 1,
    "population-std": group.deviation + EPSILON,
    "sample-std": group.deviation * Math.sqrt(n / Math.max(1, n - 1)) + EPSILON,
    "batch-std": group.batchwide?.divisor ?? 1,
    "domain-std": group.batchwide?.divisor ?? 1,
  }[group.divideBy];
  const ofBatch = group.baseline === "batch-mean" || group.baseline === "domain-mean";
  const baseline = { mean: group.mean, "leave-one-out": others }[group.baseline as string];
  // for pass@k the baseline follows from reward and advantage
  const ofBest = stands - member.advantage * divisor;
  return {
    verdict: worth,
    penalty: explainedPenalty(member, recipe),
    reward: member.reward,
    ...(member.shares && { shares: member.shares }),
    baseline: (ofBatch ? group.batchwide?.baseline : baseline) ?? ofBest,
    ...((ofBatch || (n > 1 && spread >= EPSILON)) && { divisor }),
    advantage: member.advantage,
  };
}

function explainedPenalty(
  { rollout, verdict, penalty, penaltyScale }: ScoredRollout,
  { lengthPenalty: { kind, bufferTokens }, rollouts: { maxOutputTokens } }: Recipe,
): ExplainedPenalty {
  const tokens = sampledTokens(rollout);
  const finished = rollout.finish === "eos" || rollout.finish === "stop";
  const ended = verdict.status === "correct" ? "correct" : "not correct";
  const cut = tokens >= maxOutputTokens && !finished;
  const why = kind === "none" || kind === "lp" ? kind : cut ? "cut" : ended;
  return {
    kind,
    tokens,
    maxOutputTokens,
    ...(bufferTokens !== undefined && { bufferTokens }),
    penalty,
    scale: penaltyScale,
    why,
  };
}

export function explainedSequence(
  sequence: number,
  { ratio, weight, loss, isOwnLoss, tokens }: SequenceTerms,
  { objective: kind, clipLow, clipHigh, dualClip }: ObjectiveSettings,
): ExplainedSequence {
  const range = clipRange({ kind, clipLow, clipHigh });
  const clippedTokens = tokens.filter((token) => (token.clipped ?? token.bounded) !== undefined).length;
  return {
    sequence,
    tokens: tokens.length,
    ratio,
    ...(range && { clipLow: range.low, clipHigh: range.high }),
    ...(dualClip !== undefined && { dualClip }),
    ...(kind !== "custom" && { clippedTokens }),
    ...(weight !== undefined && { weight }),
    ...(isOwnLoss && { loss }),
  };
}

/** Facts about a token that exist even if it is not trained on. */
export interface TokenFacts {
  readonly rollout: Rollout;
  /** Weight version before the step. */
  readonly version: number;
  /** [n] under the weights before the step. */
  readonly now: ArrayLike<number>;
  readonly textOf: (id: number) => string;
  /** [n] divergences from the teacher; absent without one. */
  readonly divergences?: Float32Array | undefined;
}

/** @param terms absent where the attempt is not trained on. */
export function explainedToken(
  { rollout, version, now, textOf, divergences }: TokenFacts,
  index: number,
  terms: SequenceTerms | undefined,
  corrected: boolean,
): ExplainedToken {
  const id = rollout.tokens[index]!;
  const behavior = rollout.logprobs[index]!;
  const sampledBy = rollout.versions[index]!;
  const isGiven = rollout.episode?.given[index] === 1;
  const term = isGiven ? undefined : terms?.tokens[sampledPositions(rollout).indexOf(index)];
  return {
    index,
    id,
    text: textOf(id),
    version: sampledBy,
    lag: version - sampledBy,
    oldestKv: rollout.oldestKvVersions[index]!,
    behavior,
    now: now[index]!,
    tokenRatio: isGiven ? 1 : Math.exp(now[index]! - behavior),
    ...(divergences && { divergence: divergences[index]! }),
    ...(isGiven && { given: true as const }),
    ...(term === undefined ? UNTRAINED : trainedToken(term, corrected)),
  };
}

const UNTRAINED = { coefficient: 0, policySlope: 0, klSlope: 0, entropyCoefficient: 0 } as const;

function trainedToken(term: TokenTerm, corrected: boolean) {
  const { ratio, advantage, clipped, weight, bounded, tokenWeight, tokenPenalty } = term;
  const { coefficient, policySlope, klSlope, entropyCoefficient } = term;
  return {
    ratio,
    ...(advantage !== undefined && { advantage }),
    ...(clipped && { clipped }),
    ...(corrected && { weight }),
    ...(bounded && { bounded }),
    ...(tokenWeight !== undefined && { tokenWeight }),
    ...(tokenPenalty !== undefined && { tokenPenalty }),
    coefficient,
    policySlope,
    klSlope,
    entropyCoefficient,
  };
}
