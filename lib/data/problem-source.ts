import type { DomainName, Problem } from "../records.ts";

/**
 * An endless supply of problems of one domain. Both draws are pure functions of (seed, index), so a run can
 * be resumed or replayed from the indices alone.
 */
export interface ProblemSource {
  readonly domain: DomainName;
  readonly families: readonly string[];
  /** The index-th training problem; never one of the held-out questions. */
  problem(index: number): Problem;
  /**
   * The index-th evaluation problem, always of the held-out questions; families and levels take turns, so that
   * any 4 * families.length consecutive ones are balanced. Small spaces repeat questions, never ids.
   */
  heldOut(index: number): Problem;
}

export interface SourceOptions {
  /** Run seed, a safe integer >= 0. */
  readonly seed: number;
  /** Place of the source among the run's sources, 0..63; enters every problem id. */
  readonly ordinal: number;
}
