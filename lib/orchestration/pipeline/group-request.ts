import type { AttemptTokens } from "../../native/attempt-tokens.ts";
import type { DomainName, Problem } from "../../records.ts";

/**
 * Enough to draw the same problem again: (domain, index) identify it, and the group number gives its place in
 * the order.
 */
export interface SavedGroup {
  /** Ordinal of the group in the run, from 0; the engine's request id. */
  readonly group: number;
  readonly domain: DomainName;
  /** Index of the problem in its domain's source. */
  readonly index: number;
}

/** A problem drawn for a group. */
export interface DrawnGroup extends SavedGroup {
  readonly problem: Problem;
  /** Group size G. */
  readonly attempts: number;
  /** True if the group was in the pipeline when the run was saved. */
  readonly again?: boolean;
}

/** A drawn group that went to the engine. */
export interface GroupRequest extends DrawnGroup {
  /** Weight version at submission; none of the group's tokens is older. */
  readonly submittedVersion: number;
  readonly submittedMs: number;
  /** The group's tokens that an earlier session sampled. */
  readonly begun?: readonly AttemptTokens[];
}

/** Stored tokens of groups in progress, from which a killed run resumes them. */
export interface UnfinishedGroups {
  readonly everyTokens: number;
  /**
   * For a group that was in progress before a resume: its stored tokens, and the weight version of its first
   * submission.
   */
  of(drawn: DrawnGroup): { readonly begun: readonly AttemptTokens[]; readonly version: number } | undefined;
  add(request: GroupRequest, tokens: readonly AttemptTokens[]): void;
}
