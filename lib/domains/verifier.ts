import type { FinishReason, ScoredVerdict } from "../records.ts";

/** A completion as the verifier sees it. */
export interface Completion {
  /** Decoded response, special tokens spelled out ("<think>", "</think>", a final "<eos>" or none). */
  readonly text: string;
  readonly finish: FinishReason;
}

export interface VerifierLimits {
  /** Wall time for one completion; over it the worker is killed and the completion scores 0. Default 2000. */
  readonly timeoutMs?: number;
  /** Number of groups that this verifier judges at the same time. Default: the number of workers. */
  readonly concurrency?: number;
  /**
   * Heap of the workers that judge for this verifier, in MiB. A completion that exceeds it twice scores 0.
   * Default: the pool's.
   */
  readonly heapMb?: number;
}

/** Facts about a verifier that are available without loading it. */
export interface VerifierFacts {
  readonly name: string;
  /** Increased when any verdict may have changed; stored verdicts of another version are not used. Positive integer. */
  readonly version: number;
  /** Limits that apply unless the recipe sets others. */
  readonly limits?: VerifierLimits;
}

/**
 * Judges one kind of answer. Pure: the same completion and reference give the same verdict, on any worker, in
 * any order. A completion is hostile input: it never throws and its parsing is bounded. Throwing is for our
 * own faults (a broken reference, a sandbox that is down) and makes the completion unscored.
 */
export interface Verifier<Reference = unknown> extends VerifierFacts {
  /** Parses a problem's reference; throws for a bad one, naming its fault. */
  parseReference(raw: unknown): Reference;
  verify(completion: Completion, reference: Reference): ScoredVerdict | Promise<ScoredVerdict>;
  /** Prepares what verify needs, once per worker, outside any completion's time limit. */
  prepare?(): Promise<void>;
}

/** Exports of a user's module: verify, and optionally the other members of Verifier; version 1 by default. */
export type VerifierModule<Reference = unknown> = Pick<Verifier<Reference>, "verify"> &
  Partial<Verifier<Reference>>;

export const correct = (reason: string): ScoredVerdict => ({ status: "correct", score: 1, reason });
export const wrong = (reason: string): ScoredVerdict => ({ status: "wrong", score: 0, reason });
export const noAnswer = (reason: string): ScoredVerdict => ({ status: "no_answer", score: 0, reason });
export const unparsable = (reason: string): ScoredVerdict => ({ status: "unparsable", score: 0, reason });

/** A verdict for an answer that may be right in part; `score` in [0, 1]. */
export function fraction(score: number, reason: string): ScoredVerdict {
  if (score >= 1) return correct(reason);
  return score > 0 ? { status: "partial", score, reason } : wrong(reason);
}
