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
import type { Side } from "./objective-terms.ts";

/** Why the tokens of one attempt got the gradient they got, and what they would have got by other settings. */
export interface Explanation {
  readonly run: string;
  /** As in steps.jsonl. */
  readonly step: number;
  /** Weight version before the step, and where those weights came from. */
  readonly version: number;
  readonly from: { readonly checkpoint: string; readonly trainedAgain: number };
  readonly group: number;
  /** Trained again: the step that trained it first, whose rewards and advantages it has. */
  readonly first?: number;
  readonly problem: number;
  readonly domain: DomainName;
  readonly family: string;
  readonly level: number;
  readonly attempt: number;
  readonly finish: FinishReason;
  readonly verdict: Verdict;
  /** The first is as trained, compared with the record to the bit; one more where other settings are asked for. */
  readonly settings: readonly ExplainedSettings[];
}

/** The attempt by one set of settings. */
export interface ExplainedSettings {
  /** Assignments of --set; empty for the run's own. */
  readonly set: readonly string[];
  readonly objective: Recipe["objective"];
  readonly step?: ExplainedStep;
  readonly group: ExplainedGroup;
  /** Absent where the attempt got no verdict. */
  readonly reward?: ExplainedReward;
  /** Absent where the attempt is not trained on. */
  readonly sequence?: ExplainedSequence;
  /** Generated tokens, all of them or the one that was asked for. */
  readonly tokens: readonly ExplainedToken[];
  readonly gradient?: GradientShares;
}

/** Absent where no group of the step is trained on. Of a step with several updates: the first with the attempt's group. */
export interface ExplainedStep {
  /** From 1, of the updates of the first epoch; absent where the step had one. */
  readonly update?: { readonly number: number; readonly of: number };
  readonly sequences: number;
  readonly groups: number;
  readonly tokens: number;
  readonly loss: number;
  /** Before clipping. */
  readonly gradNorm: number;
  /** What the gradient is multiplied by to clip its norm. */
  readonly gradScale: number;
}

export interface ExplainedGroup {
  readonly dropped?: DropReason;
  /** Members with a verdict. */
  readonly size: number;
  readonly solveRate: number;
  /** Of the members' rewards, or of the sums of their shares; the deviation is over n. */
  readonly mean: number;
  readonly deviation: number;
  readonly lowest: number;
  readonly highest: number;
  readonly baseline: Recipe["advantages"]["baseline"] | `pass@${number}`;
  readonly divideBy: Recipe["advantages"]["divideBy"];
  /** A hook gave the rewards, or the advantages. */
  readonly byHook: boolean;
  readonly advantagesByHook: boolean;
  /** Of the step's batch, or the domain's part: the baseline (0: the group's) and the divisor (1: none). */
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
  /** R: what the verdict is worth. */
  readonly verdict: number;
  readonly penalty: ExplainedPenalty;
  /** R + λP, or what a hook gave. */
  readonly reward: number;
  /** Where several rewards are normalised one by one: their weighted sum stands for the reward. */
  readonly shares?: readonly RewardShare[];
  readonly baseline: number;
  /** What the difference to the baseline is divided by; absent where the advantage is 0 by rule. */
  readonly divisor?: number;
  readonly advantage: number;
}

/** λ and P of the length penalty, with what they are made of. */
export interface ExplainedPenalty {
  readonly kind: Recipe["lengthPenalty"]["kind"];
  readonly tokens: number;
  /** L and B, tokens; P ramps from L − B on. */
  readonly maxOutputTokens: number;
  readonly bufferTokens?: number;
  /** P. */
  readonly penalty: number;
  /** λ. */
  readonly scale: number;
  /** Which of λ's cases it is. */
  readonly why: "none" | "lp" | "cut" | "correct" | "not correct";
}

export interface ExplainedSequence {
  /** Place in the batch. */
  readonly sequence: number;
  /** n_i. */
  readonly tokens: number;
  /** s_i = exp(mean of now − behavior). */
  readonly ratio: number;
  /** How far below and above 1 ratios may be; absent of an objective that clips none, or a custom one, which alone knows. */
  readonly clipLow?: number;
  readonly clipHigh?: number;
  /** Absent of a custom objective. Tokens whose gradient the clip or a correction's bounds took away or bounded. */
  readonly clippedTokens?: number;
  /** w of: loss = Σ w · (mean over the sequence's tokens of the objective's term). Absent of a custom one. */
  readonly weight?: number;
  /** Absent where a custom objective gave one loss for several sequences. */
  readonly loss?: number;
}

/** Log-probs are natural logs at the temperature of sampling. */
export interface ExplainedToken {
  /** Place in the completion, from 0. */
  readonly index: number;
  readonly id: number;
  /** As the tokenizer has it, halves of characters as U+FFFD; nothing in it is safe to print. */
  readonly text: string;
  /** Weights that sampled it, how many versions before the step's, and the oldest among the keys it attended to. */
  readonly version: number;
  readonly lag: number;
  readonly oldestKv: number;
  /** When it was sampled, and under the weights before the step. */
  readonly behavior: number;
  readonly now: number;
  /** exp(now − behavior). */
  readonly tokenRatio: number;
  /** A_t, where a teacher gives tokens their own. */
  readonly advantage?: number;
  /** Of its distribution from the teacher's, whose gradient is in none of the coefficients. */
  readonly divergence?: number;
  /** An episode's environment chose it: it has no log-prob of the policy's and no gradient. */
  readonly given?: true;
  /** What the clip looks at: the token's or the sequence's; of a custom objective the token's. Absent where the attempt is not trained on. */
  readonly ratio?: number;
  readonly clipped?: Side;
  /** w of the correction, where there is one. */
  readonly weight?: number;
  readonly bounded?: Side;
  /** Of `objective.tokens`: a factor of its term, or of |log ratio| beside it. */
  readonly tokenWeight?: number;
  readonly tokenPenalty?: number;
  /** ∂loss/∂log p of this token: negative raises it. 0 where it is not trained on. */
  readonly coefficient: number;
  readonly policySlope: number;
  readonly klSlope: number;
  /** ∂loss/∂entropy. */
  readonly entropyCoefficient: number;
}
