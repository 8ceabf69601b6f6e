import { HoneError } from "../errors.ts";
import { type EngineMessage, type EngineStats, FINISH } from "../native/face.ts";
import type { Completion } from "../native/generations.ts";
import { routesByToken, routesOfMessage } from "../native/routes.ts";
import { routeSections, routesIn } from "../orchestration/records/attempt-sections.ts";
import { type Lease, sectionOf } from "../streams/index.ts";
import { type FaultText, read, written } from "./messages.ts";

/** Outcome of a request, as the actor that sampled it reports it. */
export type Outcome =
  | { readonly number: number; readonly by: Sender; readonly completions: readonly Completion[] }
  | { readonly number: number; readonly by: Sender; readonly fault: FaultText }
  /** Dead-lettered: several actors crashed while they held it. */
  | { readonly number: number; readonly by: Sender; readonly poison: true };

export interface Sender {
  /** "actor.1#2": the second process that was actor 1. */
  readonly member: string;
  /** Engine statistics; only the last of several outcomes sent together has them. */
  readonly stats?: EngineStats;
}

export function encodeOutcome(outcome: Outcome): Uint8Array {
  if (!("completions" in outcome)) return written("outcome", { ...outcome });
  const { completions, ...header } = outcome;
  return written(
    "outcome",
    { ...header, attempts: completions.length },
    { completions: wordsOf(completions), ...routeSections(completions.map(({ routes }) => routes)) },
  );
}

/** Outcome of a request as an engine would report it, except for the request's id, which is always 0. */
export type DecodedOutcome =
  | { readonly number: number; readonly by: Sender; readonly message: EngineMessage }
  | Exclude<Outcome, { readonly completions: unknown }>;

export function decodeOutcome(bytes: Uint8Array): DecodedOutcome {
  const outcome = read(bytes, "outcome");
  if (!Object.hasOwn(outcome.sections, "completions"))
    return outcome.header as unknown as Exclude<Outcome, { completions: unknown }>;
  const { number, by, attempts } = outcome.header as unknown as {
    number: number;
    by: Sender;
    attempts: number;
  };
  const words = sectionOf(outcome, "completions", "i32");
  const message = engineMessageOf(words, attempts);
  const routes = routesIn(outcome, attempts).flatMap((of, k) => routesByToken(of, words[attempts + k]!));
  return { number, by, message: { ...message, ...routesOfMessage(routes) } };
}

// Finished attempts as one array of 32-bit words, for outcomes: for short attempts, one array per field would be
// several times as expensive to encode and decode. Attempts [n], lengths [n] and finish codes [n], then the fields of
// all tokens, one field after another: tokens, log-probs, entropies, versions, oldest KV, [T] each.

const A_WORDS = 3;
const T_WORDS = 5;

/** [3 n + 5 T] words of n attempts with T tokens. */
export function wordsOf(completions: readonly Completion[]): Int32Array<ArrayBuffer> {
  const n = completions.length;
  const total = completions.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const words = new Int32Array(A_WORDS * n + T_WORDS * total);
  const reals = new Float32Array(words.buffer);
  let at = A_WORDS * n;
  for (let k = 0; k < n; k++) {
    const { attempt, tokens, logprobs, entropies, versions, oldestKvVersions, finish } = completions[k]!;
    words[k] = attempt;
    words[n + k] = tokens.length;
    words[2 * n + k] = FINISH.indexOf(finish as (typeof FINISH)[number]);
    for (let i = 0; i < tokens.length; i++, at++) {
      words[at] = tokens[i]!;
      reals[at + total] = logprobs[i]!;
      reals[at + 2 * total] = entropies[i]!;
      words[at + 3 * total] = versions[i]!;
      words[at + 4 * total] = oldestKvVersions[i]!;
    }
  }
  return words;
}

/**
 * Decodes outcomes into the message that an engine would send, except for the request's id, which is always
 * 0. Its fields are views of `words`.
 * @param n number of attempts. Throws HONE_ERR_FORMAT if the words do not hold n attempts.
 */
export function engineMessageOf(words: Int32Array, n: number): EngineMessage {
  const total = tokensIn(words, n);
  const attempt = new Int32Array(total);
  const finish = new Uint8Array(total);
  const empty: number[] = [];
  let at = 0;
  for (let k = 0; k < n; k++) {
    const end = at + words[n + k]!;
    attempt.fill(words[k]!, at, end);
    // an aborted attempt may have no token
    if (end === at) empty.push(k);
    else finish[end - 1] = words[2 * n + k]!;
    at = end;
  }
  const start = words.byteOffset + 4 * A_WORDS * n;
  return {
    request: new Float64Array(total),
    attempt,
    token: new Int32Array(words.buffer, start, total),
    logprob: new Float32Array(words.buffer, start + 4 * total, total),
    entropy: new Float32Array(words.buffer, start + 8 * total, total),
    version: new Uint32Array(words.buffer, start + 12 * total, total),
    oldestKv: new Uint32Array(words.buffer, start + 16 * total, total),
    finish,
    endedRequest: new Float64Array(empty.length),
    endedAttempt: Int32Array.from(empty, (k) => words[k]!),
    endedFinish: Uint8Array.from(empty, (k) => words[2 * n + k]!),
  };
}

function tokensIn(words: Int32Array, n: number): number {
  let total = 0;
  for (let k = n; k < 2 * n; k++) total += words[k] ?? Number.NaN;
  if (words.length === A_WORDS * n + T_WORDS * total) return total;
  throw new HoneError(
    "HONE_ERR_FORMAT",
    `a message of another process has ${words.length} words, a length that does not fit its ${n} attempts`,
  );
}

/**
 * Time that an outcome waits for others. A transaction, its disk write and the wake-up of its reader cost as much for
 * one outcome as for all that end within a few decode steps. An outcome does not wait if no other request is in
 * flight.
 */
const LINGER_MS = 10;

export type Answered =
  | { readonly completions: readonly Completion[] }
  | { readonly fault: FaultText }
  | { readonly poison: true };

/** Outcome of a request, and the lease that ends with it. */
export interface SettledOutcome {
  readonly lease: Lease;
  readonly number: number;
  readonly answer: Answered;
}

/** Sends outcomes to the store in batches. */
export class OutcomeBatcher {
  readonly #send: (outcomes: readonly SettledOutcome[]) => void;
  #waiting: SettledOutcome[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param send receives at least one outcome, in the order in which they were added */
  constructor(send: (outcomes: readonly SettledOutcome[]) => void) {
    this.#send = send;
  }

  /** @param isLast true if no other request is in flight */
  add(outcome: SettledOutcome, isLast: boolean): void {
    this.#waiting.push(outcome);
    if (isLast) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), LINGER_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const outcomes = this.#waiting;
    this.#waiting = [];
    if (outcomes.length > 0) this.#send(outcomes);
  }
}
