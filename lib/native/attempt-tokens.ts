import type { Routes } from "../records.ts";
import { joinedRoutes, rowsFrom, rowsOf } from "./routes.ts";

// Rollouts that resume where another process left them: the part of the interface that the core never sees.

/** Consecutive tokens of an attempt, one entry per token in each array. */
export interface AttemptTokens {
  /** 0 .. count-1 within the request. */
  readonly attempt: number;
  /** Index of `tokens[0]` among all tokens that the attempt generated. */
  readonly from: number;
  readonly tokens: Int32Array;
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly versions: Uint32Array;
  readonly oldestKv: Uint32Array;
  /** If the engine records them: the row that each token was drawn from, after all rows before where `from` is 0. */
  readonly routes?: Routes | undefined;
  /** Index into FINISH; 0 if the attempt continues. */
  readonly finish: number;
}

/** The part of a request about tokens that already exist. */
export interface TakenUp {
  /**
   * Tokens that attempts sampled before: they continue from there, with all keys recomputed. `maxTokens` includes
   * them, and messages report them first. At most one entry per attempt, from token 0 on; a finished attempt samples
   * nothing more.
   */
  readonly begun?: readonly AttemptTokens[];
  /** Interval in tokens at which an attempt's tokens so far are reported; absent: only at the end. */
  readonly recordEveryTokens?: number;
}

export interface RecordHandler {
  /** From an engine of another process: recorded tokens of a request, which the engine that resumes it does not have. */
  onRecord?(id: number, tokens: readonly AttemptTokens[]): void;
}

export interface TakesUp {
  /**
   * Replay: resolves when the engine has all requests whose plans restart with this version or an older one.
   */
  takenUp?(version: number): Promise<void>;
}

export interface TakenUpStats {
  /** Number of resumed attempts, and of the tokens that they had when they were resumed. */
  readonly takenUp?: number;
  readonly takenUpTokens?: number;
  /** Tokens of attempts in progress that `recordEveryTokens` has not reported. */
  readonly unrecordedTokens?: number;
  /** Recorded tokens of actors that exited, by their last heartbeat; another actor samples them again. */
  readonly lostTokens?: number;
}

/**
 * Appends `later` tokens to those so far, by attempt; drops tokens after a gap. Tokens that begin before the end of
 * the existing ones were sampled by a process that resumed there: they replace everything from their first token on.
 */
export function joinedTokens(
  before: readonly AttemptTokens[],
  after: readonly AttemptTokens[],
): AttemptTokens[] {
  const joined = new Map(before.map((each) => [each.attempt, each]));
  for (const each of after) {
    const all = joined.get(each.attempt);
    if (each.from > (all?.tokens.length ?? 0)) continue;
    const first = all && firstTokens(all, each.from);
    if (first !== undefined && first.finish !== 0) continue; // the attempt has ended
    const whole =
      first === undefined || each.from === 0 ? each : { ...joinedPair(first, each), finish: each.finish };
    joined.set(each.attempt, whole);
  }
  return [...joined.values()];
}

function joinedPair(a: AttemptTokens, b: AttemptTokens): AttemptTokens {
  const n = a.tokens.length + b.tokens.length;
  const both = <A extends Int32Array | Float32Array | Uint32Array>(into: A, first: A, then: A): A => {
    into.set(first);
    into.set(then, first.length);
    return into;
  };
  return {
    ...a,
    tokens: both(new Int32Array(n), a.tokens, b.tokens),
    logprobs: both(new Float32Array(n), a.logprobs, b.logprobs),
    entropies: both(new Float32Array(n), a.entropies, b.entropies),
    versions: both(new Uint32Array(n), a.versions, b.versions),
    oldestKv: both(new Uint32Array(n), a.oldestKv, b.oldestKv),
    routes: joinedRoutes(a.routes, b.routes),
  };
}

/** Returns the first `length` tokens, marked as an attempt that continues. */
export function firstTokens(all: AttemptTokens, length: number): AttemptTokens {
  if (length >= all.tokens.length) return all;
  return {
    ...all,
    tokens: all.tokens.slice(0, length),
    logprobs: all.logprobs.slice(0, length),
    entropies: all.entropies.slice(0, length),
    versions: all.versions.slice(0, length),
    oldestKv: all.oldestKv.slice(0, length),
    routes: all.routes && rowsFrom(all.routes, 0, rowsOf(all.routes) - (all.tokens.length - length)),
    finish: 0,
  };
}
