import { AttemptParts } from "../../lib/native/attempt-parts.ts";
import { engineMessage } from "../../lib/native/engine-message.ts";
import type {
  EngineFace,
  EngineHandlers,
  EngineMessage,
  EngineOptions,
  EngineStats,
  GenerationRequest,
  StepOptions,
  StepReport,
  TrainingBatch,
} from "../../lib/native/face.ts";

/**
 * A core whose "model" is a 32-bit word. Tokens are a function of (word, seed, problem, attempt, position), a step
 * mixes the batch into the word, and engines take snapshots between two of their steps. It implements the core's
 * interfaces, version plans included, so that tests run the pipeline without the addon and control time exactly.
 */
export interface StandInOptions {
  /** The number of engine steps until a sequence ends, unless a limit ends it. Default: 4 to 20 tokens. */
  readonly length?: (problem: number, attempt: number) => number;
  /** Called on each trainer step; may change the report, or wait. */
  readonly onStep?: (
    batch: TrainingBatch,
    options: StepOptions,
    step: number,
  ) => Partial<StepReport> | Promise<Partial<StepReport>>;
  /** The engine's thread throws at this engine step. */
  readonly failAtEngineStep?: number;
  /** If true, the engine never generates tokens. */
  readonly deaf?: boolean;
}

const EOS = 2;

export function mix(...words: number[]): number {
  let h = 0x811c9dc5;
  for (const w of words) {
    h = Math.imul(h ^ w, 0x01000193);
    h ^= h >>> 15;
    h = Math.imul(h, 0x2c1b3c6d);
    h ^= h >>> 12;
  }
  return h >>> 0;
}

interface Sequence {
  readonly request: GenerationRequest;
  readonly attempt: number;
  n: number;
  oldestKv: number;
  /** A hash of the weights that read the prompt. Log-probs depend on it, as a model's depend on its cached keys and values. */
  kv: number;
}

export class StandInEngine implements EngineFace {
  readonly #options: StandInOptions;
  readonly #limits: EngineOptions;
  readonly #handlers: EngineHandlers;
  readonly #parts: AttemptParts;
  #sequences: Sequence[] = [];
  readonly #pending: { version: number; word: number }[] = [];
  #current: { version: number; word: number } | undefined;
  #scheduled = false;
  #closed = false;
  #steps = 0;
  #tokens = 0;
  #prefill = 0;
  #swaps = 0;

  constructor(limits: EngineOptions, handlers: EngineHandlers, options: StandInOptions) {
    this.#limits = limits;
    this.#options = options;
    const core = {
      submit: (request: GenerationRequest) => this.#accept(request),
      abort: (id: number) => this.#drop(id),
    };
    this.#parts = new AttemptParts(core, handlers);
    this.#handlers = { ...handlers, onMessage: (m) => handlers.onMessage(this.#parts.received(m)) };
  }

  submit(request: GenerationRequest): void {
    this.#parts.submit(request);
  }

  takenUp(version: number): Promise<void> {
    return this.#parts.takenUp(version);
  }

  abort(id: number): void {
    this.#parts.abort(id);
  }

  #accept(request: GenerationRequest): void {
    for (let attempt = 0; attempt < request.count; attempt++) {
      this.#sequences.push({ request, attempt, n: 0, oldestKv: 0, kv: 0 });
    }
    this.#prefill += request.prompt.length;
    this.#schedule();
  }

  /** Reports the end of every attempt, as the core does. */
  #drop(id: number): void {
    const ended = this.#sequences.filter((s) => s.request.id === id);
    this.#sequences = this.#sequences.filter((s) => s.request.id !== id);
    if (ended.length === 0) return;
    const message = {
      ...this.#message([]),
      endedRequest: new Float64Array(ended.length).fill(id),
      endedAttempt: Int32Array.from(ended, ({ attempt }) => attempt),
      endedFinish: new Uint8Array(ended.length).fill(4),
    };
    setImmediate(() => this.#closed || this.#handlers.onMessage(message));
  }

  take(version: number, word: number): void {
    this.#pending.push({ version, word });
    this.#schedule();
  }

  stats(): EngineStats {
    const running = Math.min(this.#sequences.length, this.#limits.maxRunning);
    return this.#parts.stats({
      steps: this.#steps,
      prefillTokens: this.#prefill,
      decodeTokens: this.#tokens,
      preemptions: 0,
      weightSwaps: this.#swaps,
      finished: 0,
      waiting: this.#sequences.length - running,
      running,
      pagesUsed: 0,
      pagesTotal: this.#limits.pages,
      busySeconds: 0,
      prefillSeconds: 0,
      decodeSeconds: 0,
      weightSwapSeconds: this.#swaps / 4,
      pageSwapSeconds: this.#steps / 8,
      version: this.#current?.version ?? 0,
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #schedule(): void {
    if (this.#scheduled || this.#closed || this.#options.deaf) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#closed) return;
      if (this.#steps === this.#options.failAtEngineStep)
        return this.#handlers.onError(new Error("engine thread died"));
      this.#step();
    });
  }

  #step(): void {
    const version = this.#advanceVersion();
    if (version === undefined) return;
    const ready = this.#sequences
      .filter((s) => (planned(s) ?? version) === version)
      .slice(0, this.#limits.maxRunning);
    if (ready.length === 0) return;
    this.#steps += 1;
    this.#tokens += ready.length;
    this.#handlers.onMessage(this.#message(ready));
    if (this.#sequences.length > 0) this.#schedule();
  }

  #advanceVersion(): number | undefined {
    const needed = Math.min(...this.#sequences.map((s) => planned(s) ?? Number.POSITIVE_INFINITY));
    while (this.#pending.length > 0 && (this.#current === undefined || needed > this.#current.version)) {
      if (
        this.#current !== undefined &&
        needed === Number.POSITIVE_INFINITY &&
        this.#sequences.length === 0
      ) {
        this.#pending.splice(0, this.#pending.length - 1);
      }
      this.#current = this.#pending.shift()!;
      this.#swaps += 1;
    }
    return this.#current?.version;
  }

  #message(ready: readonly Sequence[]): EngineMessage {
    const n = ready.length;
    const message = engineMessage(n);
    const { version, word } = this.#current ?? { version: 0, word: 0 };
    ready.forEach((s, i) => {
      const { request } = s;
      const { problem, begunTokens: begun } = request;
      const attempt = begun === undefined ? s.attempt : request.firstAttempt;
      if (s.n === 0) [s.oldestKv, s.kv] = [version, word];
      const random = mix(word, Number(this.#limits.runSeed), problem, attempt, s.n + (begun ?? 0));
      const whole = this.#options.length?.(problem, attempt) ?? 4 + (mix(problem, attempt) % 17);
      const length = whole - (begun ?? 0);
      s.n += 1;
      const last = s.n >= Math.min(length, request.maxTokens);
      const cut = last && length > request.maxTokens;
      message.request[i] = request.id;
      message.attempt[i] = s.attempt;
      message.token[i] = last && !cut ? EOS : 5 + (random % 90);
      message.logprob[i] = -(mix(random, s.kv) % 1000) / 500;
      message.entropy[i] = 0.5;
      message.version[i] = version;
      message.oldestKv[i] = s.oldestKv;
      message.finish[i] = last ? (cut ? 3 : 1) : 0;
    });
    const ended = new Set(ready.filter((_, i) => message.finish[i] !== 0));
    this.#sequences = this.#sequences.filter((s) => !ended.has(s));
    return message;
  }
}

/** The weight version that the plan sets for a sequence's next token. */
function planned({ request, attempt, n }: Sequence): number | undefined {
  return request.plan?.[attempt]?.findLast((run) => run.fromToken <= n)?.version;
}
