/**
 * The nouns that travel along the pipeline, one per step, each made in one place:
 * domain -> Problem -> Prompt -> Rollout -> Verdict -> RolloutGroup -> TrainingBatch -> (native) -> StepReport.
 */

/** The paper's are math, code, logic, instruction-following and function-calling; recipes may name others. */
export type DomainName = string;

/** A turn of a conversation, as chat templates read it. */
export interface ChatMessage {
  readonly role: string;
  /** Text, or parts such as {type: "text", text}; absent in some tool calls. */
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

/** One verifiable task instance. Plain data: it crosses worker borders and goes into logs as it is. */
export interface Problem {
  /** Unique in a run and stable across restarts; keys the randomness of its rollouts. 32-bit unsigned. */
  readonly id: number;
  readonly domain: DomainName;
  /** Generator family or dataset name, e.g. "chain" or "orz". */
  readonly family: string;
  /** Difficulty level where the source defines one, 0 = easiest. */
  readonly level: number;
  /** What the policy is asked, before any chat template: complete, tools described in words. */
  readonly question: string;
  /** The same as a conversation, where it is more than one message of a user, or has tools. */
  readonly messages?: readonly ChatMessage[];
  /**
   * Functions that may be called, a list in JSON Schema, for chat templates that show tools in a way of their own. JSON
   * as text: a template writes 1 and 1.0 differently.
   */
  readonly tools?: string;
  /** Name of the verifier in the registry that judges answers to it. */
  readonly verifier: string;
  /** What the verifier judges against; never shown to the policy, never sent into a sandbox. */
  readonly reference: unknown;
  /** The row of a data set as it is, for rewards that are given its columns. */
  readonly columns?: Readonly<Record<string, unknown>>;
}

/** A problem as token ids, ready for the engine. */
export interface Prompt {
  readonly problem: Problem;
  readonly tokens: Int32Array;
}

/** "turns": an episode that its limit of turns cut. */
export type FinishReason = "eos" | "stop" | "length" | "abort" | "turns";

/** What makes a rollout of several turns an episode: who wrote which of its tokens, and what its environment says of it. */
export interface Episode {
  /**
   * An entry a token of the rollout: 1 where its environment or the chat template chose it and not the policy. Those
   * have log-prob and entropy 0, are in no loss, and carry the version whose weights read them for the turn that follows.
   */
  readonly given: Uint8Array;
  /** Where those stand in the text: begin, end, begin, end, ... in UTF-16 units. */
  readonly givenText: readonly number[];
  /** Messages of the policy, and calls of tools that were read in them. */
  readonly turns: number;
  readonly toolCalls: number;
  readonly verdict: Verdict;
}

/** One sampled completion with everything the trainer needs. Arrays have one entry per generated token. */
export interface Rollout {
  readonly problem: Problem;
  /** Which of the group's G samples, 0-based (plus offsets on retries). */
  readonly attempt: number;
  readonly promptTokens: Int32Array;
  readonly tokens: Int32Array;
  /** Natural log, of the whole distribution at the sampling temperature, before top-k, top-p and min-p. */
  readonly logprobs: Float32Array;
  /** Nats, of the same distribution. */
  readonly entropies: Float32Array;
  /** Weight version that sampled each token, and the oldest version among the keys it attended to. */
  readonly versions: Uint32Array;
  readonly oldestKvVersions: Uint32Array;
  readonly finish: FinishReason;
  /** What the verifier reads: the token that ended the completion left out, other special tokens spelled. */
  readonly text: string;
  /** Tokens the vocabulary has no text for (a model's table of embeddings may be longer); absent where none. */
  readonly textlessTokens?: number;
  /** Of a domain with an environment: a rollout that reads between its turns. */
  readonly episode?: Episode;
  /** Milliseconds on the run's clock. */
  readonly submittedMs: number;
  readonly finishedMs: number;
}

/** Tokens that the policy chose: all but those an episode's environment gave it. */
export function sampledTokens({
  tokens,
  episode,
}: Pick<Rollout, "tokens"> & { readonly episode?: Episode | undefined }): number {
  return episode === undefined ? tokens.length : episode.given.reduce((n, given) => n - given, tokens.length);
}

/** The policy's own result: its faults (wrong, too slow, hangs) score 0. */
export interface ScoredVerdict {
  readonly status: "correct" | "partial" | "wrong" | "no_answer" | "unparsable";
  /**
   * Of a verifier: 1 exactly when status is "correct", below 1 when it is "partial", otherwise 0; but that reference
   * modes, which training does not use, give `wrong` a part where their original does. Of a recipe's own reward any
   * finite number, whose status its scale decides (RewardScale).
   */
  readonly score: number;
  /** A few words for people and for counting, e.g. "numbers not used exactly once". */
  readonly reason: string;
  /** Score of each reward of a domain that has several, by name; their weighted mean is `score`. */
  readonly parts?: Readonly<Record<string, number>>;
}

/** A fault of ours (worker lost, sandbox down): retried once, then taken out of the group; it never trains. */
export interface UnscoredVerdict {
  readonly status: "unscored";
  readonly cause: string;
  /** A reward that says that it is none for this problem, as TRL's functions do with None: it is not asked again. */
  readonly notApplicable?: true;
}

/** What a verifier or a reward says of a completion: a score, or that it could not be judged. */
export type Verdict = ScoredVerdict | UnscoredVerdict;

/** One of several rewards of a rollout, normalised in its group, and its weight among them. */
export interface RewardShare {
  readonly name: string;
  readonly weight: number;
  readonly normalised: number;
}

/** A rollout with its verdict and what reward shaping made of it. */
export interface ScoredRollout {
  readonly rollout: Rollout;
  readonly verdict: ScoredVerdict;
  /** R + lambda P: what the verdict is worth (its score, unless a table says otherwise) plus the length penalty's share. */
  readonly reward: number;
  /** Lambda and P of the length penalty, 0 where none applies. */
  readonly penaltyScale: number;
  readonly penalty: number;
  /**
   * Of its reward; what a masked rollout would have been trained with. Where the recipe normalises over the batch, before
   * the batch is whole and in a group that is dropped: the difference before that.
   */
  readonly advantage: number;
  /** Where each of several rewards is normalised in its group: their weighted sum stands for the reward. */
  readonly shares?: readonly RewardShare[];
  /** Whether it was cut and is left out of the loss, in the group's baseline all the same; absent where nothing is masked. */
  readonly masked?: boolean;
}

/** Why a rollout that was completed did not reach the trainer. */
export type DropReason = "zero-advantage" | "unscored" | "too-small-group" | "overlong" | "hook" | "abort";

/** All scored rollouts of one problem, with group statistics. */
export interface RolloutGroup {
  readonly problem: Problem;
  readonly rollouts: readonly ScoredRollout[];
  /** Fraction with status "correct". */
  readonly solveRate: number;
  /** Weight version at submission. */
  readonly submittedVersion: number;
  /** Baseline (0: the group's) and divisor (1: none) of the step's batch, or of the domain's part; absent where all is of the group. */
  readonly batchwide?: { readonly baseline: number; readonly divisor: number };
  /** Set when the whole group is filtered. */
  readonly dropped?: DropReason;
}

/** What one optimizer step did, for hooks, sinks and the log. Made by orchestration/records/step-recorder.ts. */
export interface StepRecord {
  readonly step: number;
  readonly version: number;
  /** Flat metric names ("score/mean", "length/mean/math", ...) to finite numbers; see docs/reference/metrics.md. */
  readonly metrics: Readonly<Record<string, number>>;
}
