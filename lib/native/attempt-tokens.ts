// Rollouts that are taken up where somebody else left them: what of the face the core itself never sees.

/** Tokens of an attempt that follow each other, one entry a token in each array. */
export interface AttemptTokens {
  /** 0 .. count-1 within the request. */
  readonly attempt: number;
  /** Index of the first among those that the attempt generated. */
  readonly from: number;
  readonly tokens: Int32Array;
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly versions: Uint32Array;
  readonly oldestKv: Uint32Array;
  /** Index into FINISH; 0 where the attempt goes on. */
  readonly finish: number;
}

/** The part of a request that says what there is of it. */
export interface TakenUp {
  /**
   * What attempts sampled before: they go on from there, the keys of all of it computed anew. `maxTokens` counts it, and
   * messages tell it first. At most one entry an attempt, from token 0 on; one that is over samples nothing more.
   */
  readonly begun?: readonly AttemptTokens[];
  /** Reports the tokens so far whenever an attempt has so many more; absent: only at the end. */
  readonly recordEveryTokens?: number;
}

export interface RecordHandler {
  /**
   * From an engine of another process: recorded tokens of a request, which the engine that continues it does not have.
   */
  onRecord?(id: number, tokens: readonly AttemptTokens[]): void;
}

export interface TakesUp {
  /** Replay: resolves when it has all requests that plans let begin anew with this version or an older one. */
  takenUp?(version: number): Promise<void>;
}

export interface TakenUpStats {
  /** Attempts that were taken up where they had been left, and tokens that they had by then. */
  readonly takenUp?: number;
  readonly takenUpTokens?: number;
  /** Tokens sampled of attempts under way that were not told by `recordEveryTokens`. */
  readonly unrecordedTokens?: number;
  /** Such tokens of actors that exited, by their last heartbeat; another actor samples them again. */
  readonly lostTokens?: number;
}

/**
 * What follows is added to what there is, by attempt; what leaves a gap is left out. What begins before the end of what there
 * is was sampled by somebody who went on from there: it takes the place of all behind its first token.
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
    if (first !== undefined && first.finish !== 0) continue; // it is over
    const whole = first === undefined ? each : { ...joinedPair(first, each), finish: each.finish };
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
  };
}

/** The first `length` of them; an attempt that is cut goes on. */
export function firstTokens(all: AttemptTokens, length: number): AttemptTokens {
  if (length >= all.tokens.length) return all;
  return {
    ...all,
    tokens: all.tokens.slice(0, length),
    logprobs: all.logprobs.slice(0, length),
    entropies: all.entropies.slice(0, length),
    versions: all.versions.slice(0, length),
    oldestKv: all.oldestKv.slice(0, length),
    finish: 0,
  };
}
