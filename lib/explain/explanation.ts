import type { Recipe } from "../config/index.ts";
import type {
  DomainName,
  DropReason,
  FinishReason,
  RewardShare,
  RolloutGroup,
  ScoredVerdict,
  Verdict,
} from "../records.ts";
import type { GradientShares } from "./gradient-share.ts";
import type { Side, Stop } from "./objective-terms.ts";

/** Explains the gradients of one attempt's tokens, under the run's settings and under other ones. */
export interface Explanation {
  readonly run: string;
  /** Step number as in steps.jsonl. */
  readonly step: number;
  /** Weight version before the step, and the source of those weights. */
  readonly version: number;
  readonly from: { readonly checkpoint: string; readonly trainedAgain: number };
  readonly group: number;
  /** For a replayed group: the step that trained it first and set its rewards and advantages. */
  readonly first?: number;
  readonly problem: number;
  readonly domain: DomainName;
  readonly family: string;
  readonly level: number;
  readonly attempt: number;
  readonly finish: FinishReason;
  readonly verdict: Verdict;
  /**
   * The first entry has the run's settings and is compared with the record to the bit; a second one has the requested
   * settings.
   */
  readonly settings: readonly ExplainedSettings[];
}

/** The attempt, explained under one set of settings. */
export interface ExplainedSettings {
  /** Assignments of --set; empty for the run's own settings. */
  readonly set: readonly string[];
  readonly objective: Recipe["objective"];
  readonly step?: ExplainedStep;
  readonly group: ExplainedGroup;
  /** The attempt's reward; absent if it got no verdict. */
  readonly reward?: ExplainedReward;
  /** The attempt's sequence in the batch; absent if it is not trained on. */
  readonly sequence?: ExplainedSequence;
  /** Generated tokens, either all of them or the requested one. */
  readonly tokens: readonly ExplainedToken[];
  readonly gradient?: GradientShares;
}

/** Absent where no group of the step is trained on. Of a step with several updates: the first with the attempt's group. */
export interface ExplainedStep {
  /** Number of the update in the first epoch, from 1; absent if the step had only one. */
  readonly update?: { readonly number: number; readonly of: number };
  readonly sequences: number;
  readonly groups: number;
  readonly tokens: number;
  readonly loss: number;
  /** Norm of the gradient before clipping. */
  readonly gradNorm: number;
  /** Factor by which clipping scales the gradient. */
  readonly gradScale: number;
}

export interface ExplainedGroup {
  readonly dropped?: DropReason;
  /** Members with a verdict. */
  readonly size: number;
  readonly solveRate: number;
  /** Mean of the group's rewards, or of their summed shares; the standard deviation below divides by n. */
  readonly mean: number;
  readonly deviation: number;
  readonly lowest: number;
  readonly highest: number;
  readonly baseline: Recipe["advantages"]["baseline"] | `pass@${number}`;
  readonly divideBy: Recipe["advantages"]["divideBy"];
  /** A hook gave the rewards, or the advantages. */
  readonly byHook: boolean;
  readonly advantagesByHook: boolean;
  /** Batch-wide baseline and divisor, for the step's batch or the domain's part (0: the group's baseline; 1: no divisor). */
  readonly batchwide?: RolloutGroup["batchwide"];
  readonly members: readonly ExplainedMember[];
}

export interface ExplainedMember {
  readonly attempt: number;
  readonly status: ScoredVerdict["status"];
  readonly score: number;
  readonly tokens: number;
  readonly reward: number;
  readonly advantage: number;
  readonly masked: boolean;
}

export interface ExplainedReward {
  /** R: the verdict's reward. */
  readonly verdict: number;
  readonly penalty: ExplainedPenalty;
  /** R + λP, or the reward that a hook gave instead. */
  readonly reward: number;
  /** Shares of rewards that are normalised one by one; their weighted sum replaces the reward. */
  readonly shares?: readonly RewardShare[];
  readonly baseline: number;
  /** Divisor of the difference to the baseline; absent if the advantage is 0 by rule. */
  readonly divisor?: number;
  readonly advantage: number;
}

/** λ and P of the length penalty, with their inputs. */
export interface ExplainedPenalty {
  readonly kind: Recipe["lengthPenalty"]["kind"];
  readonly tokens: number;
  /** L and B, tokens; P ramps from L − B on. */
  readonly maxOutputTokens: number;
  readonly bufferTokens?: number;
  /** P, the length penalty, in [-1, 0]. */
  readonly penalty: number;
  /** λ, the factor of P. */
  readonly scale: number;
  /** Which case of the definition of λ (the scale of the length penalty) applied. */
  readonly why: "none" | "lp" | "cut" | "correct" | "not correct";
}

export interface ExplainedSequence {
  /** Place in the batch. */
  readonly sequence: number;
  /** n_i: number of its sampled tokens. */
  readonly tokens: number;
  /** s_i = exp(mean of now − behavior). */
  readonly ratio: number;
  /** Distances of the clip bounds below and above 1; absent for an objective that does not clip, and for a custom one. */
  readonly clipLow?: number;
  readonly clipHigh?: number;
  /** The ratio above which the term of a negative advantage is constant; absent without this bound. */
  readonly dualClip?: number;
  /** Number of tokens whose gradient the clip or a correction's bounds removed or limited. Absent for a custom objective. */
  readonly clippedTokens?: number;
  /** w in: loss = Σ w · (mean over the sequence's tokens of the objective's term). Absent for a custom objective. */
  readonly weight?: number;
  /** Absent if a custom objective returned one loss for several sequences. */
  readonly loss?: number;
}

/** Log-probs are natural logs at the temperature of sampling. */
export interface ExplainedToken {
  /** Place in the completion, from 0. */
  readonly index: number;
  readonly id: number;
  /** The token's text, with U+FFFD for parts of characters; untrusted, so not safe to print. */
  readonly text: string;
  /**
   * Version of the weights that sampled it; `lag`: versions since then; `oldestKv`: oldest version among the
   * keys it attended to.
   */
  readonly version: number;
  readonly lag: number;
  readonly oldestKv: number;
  /** The token's log-prob when it was sampled and, in `now`, under the weights before the step. */
  readonly behavior: number;
  readonly now: number;
  /** exp(now − behavior). */
  readonly tokenRatio: number;
  /** A_t, the token's own advantage, if a teacher gives one. */
  readonly advantage?: number;
  /** Divergence of the token's distribution from the teacher's; the coefficients do not contain its gradient. */
  readonly divergence?: number;
  /** Set if an episode's environment chose the token, which then has no log-prob under the policy and no gradient. */
  readonly given?: true;
  /**
   * Ratio that the clip compares: the token's or the sequence's; for a custom objective the token's. Absent if the
   * attempt is not trained on.
   */
  readonly ratio?: number;
  readonly clipped?: Stop;
  /** Weight w of objective.correction, if the recipe has one. */
  readonly weight?: number;
  readonly bounded?: Side;
  /** Result of `objective.tokens`: a factor of the token's term, or a coefficient of |log ratio| added to it. */
  readonly tokenWeight?: number;
  readonly tokenPenalty?: number;
  /** ∂loss/∂log p of this token: if it is negative, the step raises log p. 0 where it is not trained on. */
  readonly coefficient: number;
  readonly policySlope: number;
  readonly klSlope: number;
  /** ∂loss/∂entropy of this token. */
  readonly entropyCoefficient: number;
}
