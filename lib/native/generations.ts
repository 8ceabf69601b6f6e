import type { FinishReason, Routes } from "../records.ts";
import type { AttemptTokens } from "./attempt-tokens.ts";
import {
  type EngineFace,
  type EngineHandlers,
  type EngineMessage,
  type EngineStats,
  FINISH,
  type GenerationRequest,
} from "./face.ts";
import { RouteBuffer, routeReader } from "./routes.ts";

/** One finished attempt: arrays with one entry per generated token, as recorded by the engine. */
export interface Completion {
  readonly request: number;
  /** 0 .. count-1 within the request. */
  readonly attempt: number;
  readonly tokens: Int32Array;
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly versions: Uint32Array;
  readonly oldestKvVersions: Uint32Array;
  /** If the engine records them. */
  readonly routes?: Routes;
  readonly finish: FinishReason;
}

/** Receives finished attempts: all that one engine message finished, in one call. */
export interface CompletionSink {
  deliver(completions: Completion[]): void;
  /**
   * Receives the new tokens of a request, every `recordEveryTokens` tokens; not called at the end of the
   * request.
   */
  record?(request: number, tokens: readonly AttemptTokens[]): void;
  /** The engine failed; no further calls follow. */
  fail(error: Error): void;
}

const FIRST_CAPACITY = 128;

/** Tokens of one running attempt, in arrays that double when full and are reused by later attempts. */
class AttemptBuffer {
  length = 0;
  /** Tokens already passed to the sink. */
  recorded = 0;
  #tokens = new Int32Array(FIRST_CAPACITY);
  #logprobs = new Float32Array(FIRST_CAPACITY);
  #entropies = new Float32Array(FIRST_CAPACITY);
  #versions = new Uint32Array(FIRST_CAPACITY);
  #oldestKv = new Uint32Array(FIRST_CAPACITY);
  readonly #routes = new RouteBuffer();

  append(message: EngineMessage, i: number, routes: Routes | undefined): void {
    const at = this.length;
    if (at === this.#tokens.length) this.#grow();
    this.#tokens[at] = message.token[i]!;
    this.#logprobs[at] = message.logprob[i]!;
    this.#entropies[at] = message.entropy[i]!;
    this.#versions[at] = message.version[i]!;
    this.#oldestKv[at] = message.oldestKv[i]!;
    if (routes !== undefined) this.#routes.add(routes);
    this.length = at + 1;
  }

  /** Copies the contents into a single allocation: five per attempt would burden the garbage collector. */
  complete(request: number, attempt: number, finish: FinishReason): Completion {
    const n = this.length;
    const memory = new ArrayBuffer(n * 20);
    const tokens = new Int32Array(memory, 0, n);
    const logprobs = new Float32Array(memory, n * 4, n);
    const entropies = new Float32Array(memory, n * 8, n);
    const versions = new Uint32Array(memory, n * 12, n);
    const oldestKvVersions = new Uint32Array(memory, n * 16, n);
    tokens.set(this.#tokens.subarray(0, n));
    logprobs.set(this.#logprobs.subarray(0, n));
    entropies.set(this.#entropies.subarray(0, n));
    versions.set(this.#versions.subarray(0, n));
    oldestKvVersions.set(this.#oldestKv.subarray(0, n));
    const routes = this.#routes.from(0);
    const arrays = { tokens, logprobs, entropies, versions, oldestKvVersions, ...(routes && { routes }) };
    return { request, attempt, ...arrays, finish };
  }

  clear(): void {
    this.length = this.recorded = 0;
    this.#routes.clear();
  }

  /** Copies the tokens not yet reported to the sink, and marks them as reported. */
  unrecorded(attempt: number, finish: number): AttemptTokens {
    const [from, to] = [this.recorded, this.length];
    this.recorded = to;
    const routes = this.#routes.from(from === 0 ? 0 : this.#routes.rows - (to - from));
    return {
      attempt,
      from,
      tokens: this.#tokens.slice(from, to),
      logprobs: this.#logprobs.slice(from, to),
      entropies: this.#entropies.slice(from, to),
      versions: this.#versions.slice(from, to),
      oldestKv: this.#oldestKv.slice(from, to),
      ...(routes && { routes }),
      finish,
    };
  }

  #grow(): void {
    const capacity = this.#tokens.length * 2;
    this.#tokens = grown(this.#tokens, new Int32Array(capacity));
    this.#logprobs = grown(this.#logprobs, new Float32Array(capacity));
    this.#entropies = grown(this.#entropies, new Float32Array(capacity));
    this.#versions = grown(this.#versions, new Uint32Array(capacity));
    this.#oldestKv = grown(this.#oldestKv, new Uint32Array(capacity));
  }
}

function grown<A extends { set(source: ArrayLike<number>): void }>(from: ArrayLike<number>, to: A): A {
  to.set(from);
  return to;
}

interface Running {
  readonly sink: CompletionSink;
  readonly attempts: (AttemptBuffer | undefined)[];
  /** The sink gets an attempt's tokens each time the attempt has this many new ones; infinity: never. */
  readonly every: number;
  /** Last tokens of ended attempts, for the next call of `record`. */
  readonly ended: AttemptTokens[];
  left: number;
}

/**
 * Sends requests to an engine, and collects its per-step messages into whole completions: a few typed-array
 * stores a token.
 */
export class Generations {
  readonly engine: EngineFace;
  readonly #running = new Map<number, Running>();
  /** Buffers of ended attempts, to be reused. */
  readonly #spare: AttemptBuffer[] = [];
  #failure: Error | undefined;

  /** @param open creates the engine with the handlers that the engine calls */
  constructor(open: (handlers: EngineHandlers) => EngineFace) {
    this.engine = open({
      onMessage: (message) => this.#receive(message),
      onRecord: (id, tokens) => this.#running.get(id)?.sink.record?.(id, tokens),
      onError: (error) => this.#fail(error),
    });
  }

  /** Number of attempts submitted and not yet delivered. */
  get inFlight(): number {
    let attempts = 0;
    for (const running of this.#running.values()) attempts += running.left;
    return attempts;
  }

  /** The engine's statistics, with the number of tokens not yet recorded. */
  stats(): EngineStats {
    return { ...this.engine.stats(), unrecordedTokens: this.#unrecordedTokens() };
  }

  #unrecordedTokens(): number {
    let tokens = 0;
    for (const { attempts, ended, every } of this.#running.values()) {
      if (!Number.isFinite(every)) continue;
      for (const each of ended) tokens += each.tokens.length;
      for (const buffer of attempts) tokens += buffer === undefined ? 0 : buffer.length - buffer.recorded;
    }
    return tokens;
  }

  /** Throws the engine's error for a request that can never run, or its failure if it has failed. */
  submit(request: GenerationRequest, sink: CompletionSink): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.engine.submit(request);
    const { id, count, begun = [], recordEveryTokens: every = Number.POSITIVE_INFINITY } = request;
    const attempts = Array.from({ length: count }, () => this.#spare.pop() ?? new AttemptBuffer());
    for (const { attempt, tokens } of begun) attempts[attempt]!.recorded = tokens.length;
    this.#running.set(id, { sink, attempts, every, ended: [], left: count });
  }

  /**
   * Resolves with all attempts of one request, in order. Rejects if the engine fails or on abort; never
   * settles after `abandon`.
   */
  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Completion[]> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const done: Completion[] = [];
      const onAbort = () => this.engine.abort(request.id);
      this.submit(request, {
        deliver: (completions) => {
          done.push(...completions);
          if (done.length < request.count) return;
          signal?.removeEventListener("abort", onAbort);
          if (signal?.aborted) reject(signal.reason);
          else resolve(done.sort((a, b) => a.attempt - b.attempt));
        },
        fail: reject,
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Aborts every request; nothing more is delivered. */
  abandon(): void {
    for (const id of this.#running.keys()) this.engine.abort(id);
    this.#running.clear();
  }

  async close(): Promise<void> {
    this.#running.clear();
    await this.engine.close();
  }

  #receive(message: EngineMessage): void {
    const finished = new Map<CompletionSink, Completion[]>();
    const due = new Set<number>();
    const { request, attempt, finish, endedRequest, endedAttempt, endedFinish } = message;
    const routesOf = routeReader(message);
    for (let i = 0; i < request.length; i++) {
      const routes = routesOf(i);
      const running = this.#running.get(request[i]!);
      const buffer = running?.attempts[attempt[i]!];
      if (running === undefined || buffer === undefined) continue; // a message for a request that was abandoned
      buffer.append(message, i, routes);
      if (buffer.length - buffer.recorded >= running.every) due.add(request[i]!);
      if (finish[i] !== 0) this.#finish(request[i]!, attempt[i]!, finish[i]!, finished);
    }
    for (let i = 0; i < endedRequest.length; i++) {
      this.#finish(endedRequest[i]!, endedAttempt[i]!, endedFinish[i]!, finished);
    }
    for (const id of due) this.record(id);
    for (const [sink, completions] of finished) sink.deliver(completions);
  }

  /** Passes the tokens of a request since the last call to the sink, if the request records tokens. */
  record(id: number): void {
    const running = this.#running.get(id);
    if (running?.sink.record === undefined || !Number.isFinite(running.every)) return;
    const tokens = running.attempts.flatMap((buffer, attempt) =>
      buffer === undefined || buffer.length <= buffer.recorded ? [] : [buffer.unrecorded(attempt, 0)],
    );
    running.sink.record(id, [...running.ended.splice(0), ...tokens]);
  }

  #finish(request: number, attempt: number, code: number, finished: Map<CompletionSink, Completion[]>): void {
    const running = this.#running.get(request);
    const buffer = running?.attempts[attempt];
    if (running === undefined || buffer === undefined) return;
    const completion = buffer.complete(request, attempt, FINISH[code] as FinishReason);
    const list = finished.get(running.sink);
    if (list === undefined) finished.set(running.sink, [completion]);
    else list.push(completion);
    running.attempts[attempt] = undefined;
    if (buffer.length > buffer.recorded && Number.isFinite(running.every))
      running.ended.push(buffer.unrecorded(attempt, code));
    buffer.clear();
    this.#spare.push(buffer);
    running.left -= 1;
    if (running.left === 0) this.#running.delete(request);
  }

  #fail(error: Error): void {
    this.#failure = error;
    const sinks = new Set([...this.#running.values()].map((running) => running.sink));
    this.#running.clear();
    for (const sink of sinks) sink.fail(error);
  }
}
