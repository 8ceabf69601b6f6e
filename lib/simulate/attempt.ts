import type { GroupRequest } from "../orchestration/index.ts";
import type { DecodeProgress } from "./decode-progress.ts";
import type { GroupOutcome } from "./workload.ts";

/** A group submitted by the pipeline, and its simulated answers. */
export interface SubmittedGroup {
  readonly request: GroupRequest;
  readonly outcome: GroupOutcome;
  readonly attempts: readonly Attempt[];
  /** Number of attempts that have not ended. */
  left: number;
  /** Number of attempts whose keys and values, and with them the prompt's, are in an engine. */
  resident: number;
}

const MOST_ATTEMPTS = 2 ** 20;

/** One answer in progress. */
export class Attempt {
  readonly group: SubmittedGroup;
  readonly number: number;
  /** Ascending in order of submission. */
  readonly order: number;
  /** Number of tokens that the answer will have. */
  readonly length: number;
  /** Number of the attempt's tokens; only valid while it is not running. */
  done = 0;
  /** While the attempt runs: number of the engine's step in which it ends. */
  endStep = 0;
  /** Version of the weights that sampled the attempt's first token. */
  firstVersion = -1;
  /** Sum over the attempt's tokens of the weight versions that sampled them. */
  versions = 0;
  /** Time in seconds at which the attempt was complete; -1 before. */
  endedAt = -1;

  constructor(group: SubmittedGroup, number: number) {
    this.group = group;
    this.number = number;
    this.order = group.request.group * MOST_ATTEMPTS + number;
    this.length = group.outcome.lengths[number]!;
  }

  /** Takes a slot. */
  begin(progress: DecodeProgress): void {
    if (this.firstVersion < 0) this.firstVersion = progress.version;
    this.endStep = progress.steps + this.length - this.done;
    this.versions -= progress.versions;
    progress.batch += 1;
    progress.context += this.group.outcome.promptTokens + this.done;
  }

  /** Gives the attempt's slot back. */
  leave(progress: DecodeProgress): void {
    this.done = this.doneBy(progress);
    this.versions += progress.versions;
    progress.batch -= 1;
    progress.context -= this.group.outcome.promptTokens + this.done;
  }

  doneBy(progress: DecodeProgress): number {
    return this.length - (this.endStep - progress.steps);
  }

  /** Restarts the answer without its tokens. */
  startAgain(): void {
    this.done = 0;
    this.firstVersion = -1;
    this.versions = 0;
  }
}

/** @param outcome has one length per attempt */
export function submittedGroup(request: GroupRequest, outcome: GroupOutcome): SubmittedGroup {
  const attempts: Attempt[] = [];
  const group = { request, outcome, attempts, left: request.attempts, resident: 0 };
  for (let i = 0; i < request.attempts; i++) attempts.push(new Attempt(group, i));
  return group;
}

/** Compares attempts by their order of submission. */
export const byAge = (a: Attempt, b: Attempt): number => a.order - b.order;
