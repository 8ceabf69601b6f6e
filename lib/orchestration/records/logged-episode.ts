import { z } from "zod";
import type { Episode, FinishReason, Rollout } from "../../records.ts";

/**
 * Parts of an episode that a replay cannot sample again, since its environment produced them: why it ended, how many
 * calls it contained, and the observation before each further turn, as the index of its first token and then its ids.
 */
export interface LoggedEpisode {
  readonly f: FinishReason;
  readonly c: number;
  readonly o: readonly (readonly number[])[];
}

const natural = z.int().min(0);
export const loggedEpisodeSchema = z.object({
  f: z.enum(["eos", "stop", "length", "abort", "turns"]),
  c: natural,
  o: z.array(z.array(natural).min(2)),
});

export function loggedEpisode({ tokens, finish }: Rollout, { given, toolCalls }: Episode): LoggedEpisode {
  const runs = givenRuns(given);
  const o: number[][] = [];
  for (let i = 0; i < runs.length; i += 2) o.push([runs[i]!, ...tokens.subarray(runs[i], runs[i + 1])]);
  return { f: finish, c: toolCalls, o };
}

/** Ranges [begin, end, begin, end, ...] of the entries that are 1. */
export function givenRuns(given: Uint8Array): number[] {
  const runs: number[] = [];
  for (let i = 0; i <= given.length; i++) {
    if ((given[i] ?? 0) !== (given[i - 1] ?? 0)) runs.push(i);
  }
  return runs;
}

/** The inverse of givenRuns: `length` entries, 1 inside the ranges. */
export function givenOf(runs: readonly number[], length: number): Uint8Array {
  const given = new Uint8Array(length);
  for (let i = 0; i + 1 < runs.length; i += 2) given.fill(1, runs[i], runs[i + 1]);
  return given;
}
