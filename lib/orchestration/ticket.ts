import type { DomainName, Problem } from "../records.ts";

/** A group's passage along the line: made when its problem is drawn, gone when its rollouts are trained or dropped. */
export interface Ticket {
  /** Ordinal of the group in the run, from 0; the engine's request id. */
  readonly group: number;
  readonly domain: DomainName;
  /** Index of the problem in its domain's source. */
  readonly index: number;
  readonly problem: Problem;
  /** G. */
  readonly attempts: number;
  /** Weight version when it went to the engine; none of its tokens is older. */
  submittedVersion: number;
  submittedMs: number;
  /** Attempts that completed: with a verdict, or found to have none through a fault of ours. */
  finished: number;
  /** Attempts that never completed (aborted in the engine). */
  failed: number;
}

/** Enough to draw the same problem again: (domain, index) fix it, and the group number orders it. */
export interface SavedTicket {
  readonly group: number;
  readonly domain: DomainName;
  readonly index: number;
}
