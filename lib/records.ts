/**
 * The types that travel along the pipeline, one per step, each created in one place: domain -> Problem -> Prompt ->
 * Rollout -> Verdict -> RolloutGroup -> TrainingBatch -> (native) -> StepReport.
 */

/**
 * Built-in: math, code, logic, instruction-following, function-calling and choice; recipes may name others.
 */
export type DomainName = string;

/** A turn of a conversation, as chat templates read it. */
export interface ChatMessage {
  readonly role: string;
  /** Text, or parts such as {type: "text", text}; absent in some tool calls. */
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

/** One verifiable task instance. Plain data: it is sent between threads and logged unchanged. */
export interface Problem {
  /** Unique in a run and stable across restarts; keys the randomness of its rollouts. 32-bit unsigned. */
  readonly id: number;
  readonly domain: DomainName;
  /** Generator family or dataset name, e.g. "chain" or "orz". */
  readonly family: string;
  /** Difficulty level if the source defines one, 0 = easiest. */
  readonly level: number;
  /** The question, before any chat template: complete, with tools described in words. */
  readonly question: string;
  /** The question as a conversation, if it is more than one user message, or has tools. */
  readonly messages?: readonly ChatMessage[];
  /**
   * Functions that the policy may call, a list in JSON Schema, for chat templates that format tools
   * themselves. Kept as JSON text, because a template writes 1 and 1.0 differently.
   */
  readonly tools?: string;
  /** Name, in the registry, of the verifier that judges the answers. */
  readonly verifier: string;
  /** The data that the verifier compares with; never shown to the policy, never sent into a sandbox. */
  readonly reference: unknown;
  /** The unmodified row of a data set, for rewards that receive its columns. */
  readonly columns?: Readonly<Record<string, unknown>>;
}

/** A problem as token ids, ready for the engine. */
export interface Prompt {
  readonly problem: Problem;
  readonly tokens: Int32Array;
}

/** "turns": the episode reached its limit of turns. */
export type FinishReason = "eos" | "stop" | "length" | "abort" | "turns";

/** Turns of an episode: which tokens its environment wrote, and the environment's verdict. */
export interface Episode {
  /**
   * One entry per token of the rollout: 1 if the environment or the chat template wrote it, 0 if the policy
   * sampled it. Tokens with 1 have log-prob and entropy 0, are in no loss, and carry the version of the
   * weights that read them for the next turn.
   */
  readonly given: Uint8Array;
  /**
   * Positions in `text` of what the environment or the template wrote: begin, end, begin, end, ... in UTF-16
   * units.
   */
  readonly givenText: readonly number[];
  /** Numbers of the policy's messages and of the tool calls read in them. */
  readonly turns: number;
  readonly toolCalls: number;
  readonly verdict: Verdict;
}

/**
 * Experts that a mixture's rows went to, `width` bytes each (csrc/model/routes.h): a row for every token of prompt and
 * completion but the last, from which nothing was computed.
 */
export interface Routes {
  readonly width: number;
  readonly bytes: Uint8Array;
}

/** One sampled completion with everything that the trainer needs. Arrays have one entry per generated token. */
export interface Rollout {
  readonly problem: Problem;
  /** Index among the group's G samples, from 0 (plus offsets on retries). */
  readonly attempt: number;
  readonly promptTokens: Int32Array;
  readonly tokens: Int32Array;
  /**
   * Natural log-probs under the whole distribution at the sampling temperature, before top-k, top-p and
   * min-p.
   */
  readonly logprobs: Float32Array;
  /** Entropies in nats of the whole distribution at the sampling temperature, before top-k, top-p and min-p. */
  readonly entropies: Float32Array;
  /** Weight version that sampled each token, and the oldest version among the keys it attended to. */
  readonly versions: Uint32Array;
  readonly oldestKvVersions: Uint32Array;
  /** Present if the recipe has `objective.router.replay`. */
  readonly routes?: Routes;
  readonly finish: FinishReason;
  /** Text for the verifier: without the token that ended the completion, with other special tokens spelled out. */
  readonly text: string;
  /** Number of tokens without text in the vocabulary (a model's embedding may have more rows); absent if none. */
  readonly textlessTokens?: number;
  /** Present for a domain with an environment, whose rollouts have several turns. */
  readonly episode?: Episode;
  /** Milliseconds on the run's clock. */
  readonly submittedMs: number;
  readonly finishedMs: number;
}

/** Number of tokens that the policy sampled: all except an episode's observations. */
export function sampledTokens({
  tokens,
  episode,
}: Pick<Rollout, "tokens"> & { readonly episode?: Episode | undefined }): number {
  return episode === undefined ? tokens.length : episode.given.reduce((n, given) => n - given, tokens.length);
}

/** A verdict on the policy's answer; faults of the answer (wrong, too slow, hangs) score 0. */
export interface ScoredVerdict {
  readonly status: "correct" | "partial" | "wrong" | "no_answer" | "unparsable";
  /**
   * From a verifier: 1 exactly if the status is "correct", below 1 if it is "partial", otherwise 0; except that
   * reference modes, which training does not use, give `wrong` partial credit where their original does. From a
   * custom reward any finite number; its scale determines the status (RewardScale).
   */
  readonly score: number;
  /** A few words for people and for counting, e.g. "numbers not used exactly once". */
  readonly reason: string;
  /** Score of each reward of a domain that has several, by name; their weighted mean is `score`. */
  readonly parts?: Readonly<Record<string, number>>;
}

/** An infrastructure fault (worker lost, sandbox down): retried once, then removed from the group; never trained on. */
export interface UnscoredVerdict {
  readonly status: "unscored";
  readonly cause: string;
  /** Set by a reward that does not apply to this problem, like None in TRL's functions: it is not retried. */
  readonly notApplicable?: true;
}

/** The result of a verifier or a reward for a completion: a score, or the reason why it could not be judged. */
export type Verdict = ScoredVerdict | UnscoredVerdict;

/** One of several rewards of a rollout, normalised in its group, with its weight. */
export interface RewardShare {
  readonly name: string;
  readonly weight: number;
  readonly normalised: number;
}

/** A rollout with its verdict and its reward. */
export interface ScoredRollout {
  readonly rollout: Rollout;
  readonly verdict: ScoredVerdict;
  /** R + λP: the verdict's reward (its score, unless a reward table says otherwise) plus the length penalty. */
  readonly reward: number;
  /** λ and P of the length penalty; 0 if there is no penalty. */
  readonly penaltyScale: number;
  readonly penalty: number;
  /**
   * Computed from the reward; for a masked rollout, the advantage it would have been trained with. If the recipe
   * normalises over the batch: before the batch is complete, and in a dropped group, the unnormalised difference.
   */
  readonly advantage: number;
  /** If each of several rewards is normalised in its group: their shares, whose weighted sum replaces the reward. */
  readonly shares?: readonly RewardShare[];
  /**
   * True if it was truncated and is excluded from the loss, but included in the group's baseline; absent if nothing
   * is masked.
   */
  readonly masked?: boolean;
}

/** Why a completed rollout did not reach the trainer. */
export type DropReason = "zero-advantage" | "unscored" | "too-small-group" | "overlong" | "hook" | "abort";

/** All scored rollouts of one problem, with group statistics. */
export interface RolloutGroup {
  readonly problem: Problem;
  readonly rollouts: readonly ScoredRollout[];
  /** Fraction with status "correct". */
  readonly solveRate: number;
  /** Weight version at submission. */
  readonly submittedVersion: number;
  /**
   * Baseline and divisor computed over the step's batch or the domain's part of it; 0 stands for the group's
   * own baseline, 1 for no division. Absent if the group determines both.
   */
  readonly batchwide?: { readonly baseline: number; readonly divisor: number };
  /** Set when the whole group is filtered. */
  readonly dropped?: DropReason;
}

/** Result of one optimizer step, for hooks, sinks and the log. Created by orchestration/records/step-recorder.ts. */
export interface StepRecord {
  readonly step: number;
  readonly version: number;
  /** Flat metric names ("score/mean", "length/mean/math", ...) to finite numbers; see docs/reference/metrics.md. */
  readonly metrics: Readonly<Record<string, number>>;
}
