import { setMaxListeners } from "node:events";
import type { VerifierLimits } from "../../domains/verifier.ts";
import { VERIFIER_DOMAINS, VERIFIERS } from "../../domains/verifiers.ts";
import { HoneError } from "../../errors.ts";
import type { Verdict } from "../../records.ts";
import {
  PooledVerifier,
  type PooledVerifierOptions,
  type VerificationRequest,
  type Workers,
} from "./pooled-verifier.ts";
import { type CountedJudge, openReward, type RewardPlan } from "./rewards.ts";
import type { VerifierStats } from "./verifier-stats.ts";
import { type JobPlace, WorkerGroups } from "./worker-groups.ts";

export interface VerifierPoolOptions {
  /** Processes that judge at the same time. Default 1. */
  readonly workers?: number;
  /** Workers that judge; closed with the pool. Default: this machine, with `workers` of them. */
  readonly place?: JobPlace;
  /** Limits by verifier name; override the verifier's own. */
  readonly limits?: Readonly<Record<string, VerifierLimits>>;
  /** Milliseconds per completion if neither `limits` nor the verifier sets a limit. Default 2000. */
  readonly timeoutMs?: number;
  /** Users' own verifiers: name to the URL of a `.js` or `.ts` module; see load-verifier.ts. */
  readonly modules?: Readonly<Record<string, string | URL>>;
  /** Environment variables of this process, or of the verifier hosts, that those modules receive. */
  readonly variables?: readonly string[];
  /** Rewards of a recipe, for problems that name them as their verifier. */
  readonly rewards?: readonly RewardPlan[];
  /** Heap of one worker, in MiB, if a verifier sets no limit. Default 256. */
  readonly workerHeapMb?: number;
  /** Milliseconds for importing and preparing a verifier. Default 30,000. */
  readonly loadTimeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 2000;
const LOAD_TIMEOUT_MS = 30_000;
const DEFAULT_HEAP_MB = 256;

/**
 * Judges completions in processes that never load the native addon, so that a verifier that damages its process
 * cannot affect this one; only reward functions of a recipe are called here. A completion that makes its verifier
 * hang costs the time limit and a new process, and scores 0: that is the completion's fault. If a verifier throws or
 * a process dies, the fault is ours: the completion is judged once more, then left unscored; but one that exhausts a
 * fresh process's memory a second time scores 0. Verifiers with their own heap limit have separate processes.
 */
export class VerifierPool implements AsyncDisposable {
  readonly #place: JobPlace;
  readonly #verifiers = new Map<string, CountedJudge>();
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<Verdict[]>>();
  #closing: Promise<void> | undefined;
  #abandoned = false;

  constructor(options: VerifierPoolOptions = {}) {
    const { workers = 1, workerHeapMb: heapMb = DEFAULT_HEAP_MB, loadTimeoutMs = LOAD_TIMEOUT_MS } = options;
    const place = options.place ?? new WorkerGroups(workers);
    this.#place = place;
    const pool = this;
    const shared: Workers = {
      get count() {
        return place.count;
      },
      loadTimeoutMs,
      variables: options.variables ?? [],
      get abandoned() {
        return pool.#abandoned;
      },
      run: (heap, job) => place.run(heap, job),
    };
    const defaults = { heapMb, timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS };
    const add = (
      name: string,
      own: Partial<Pick<PooledVerifierOptions, "stated" | "moduleUrl" | "domain">>,
    ) =>
      this.#verifiers.set(
        name,
        new PooledVerifier({ name, defaults, overrides: options.limits?.[name], ...own }, shared),
      );
    for (const { name, limits } of VERIFIERS)
      add(name, { stated: limits, domain: VERIFIER_DOMAINS.get(name) });
    for (const [name, url] of Object.entries(options.modules ?? {})) add(name, { moduleUrl: String(url) });
    for (const name of Object.keys(options.limits ?? {})) this.#of(name);
    const verify = this.#verifyGroup.bind(this);
    setMaxListeners(0, this.#closed.signal); // every call of a reward adds a listener
    for (const plan of options.rewards ?? [])
      for (const [name, judge] of openReward(plan, {
        workers: shared,
        defaults,
        closing: this.#closed.signal,
        verify,
      }))
        this.#verifiers.set(name, judge);
  }

  /**
   * Verdicts in the order of the requests. Throws HONE_ERR_CONFIG when a problem names an unknown verifier,
   * HONE_ERR_VERIFIER when loading one never ends, HONE_ERR_STATE when the pool is closed.
   */
  async verify(group: readonly VerificationRequest[]): Promise<Verdict[]> {
    if (this.#closing) throw new HoneError("HONE_ERR_STATE", "the verifier pool is closed");
    const work = this.#verifyGroup(group);
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  /** Current number of processes that judge at the same time. */
  get workers(): number {
    return this.#place.count;
  }

  /** Statistics of the used verifiers, by name. */
  stats(): Record<string, VerifierStats> {
    const snapshots = [...this.#verifiers].flatMap(([name, { meter, timeoutMs, model }]) => {
      const more = { limitMs: timeoutMs, ...(model && { judge: model.stats }) };
      return meter === undefined ? [] : [[name, { ...meter.snapshot(), ...more }] as const];
    });
    return Object.fromEntries(snapshots.filter(([, s]) => s.calls + s.timeouts + s.crashes + s.unscored > 0));
  }

  /** Ids of the present processes. */
  pids(): number[] {
    return this.#place.pids();
  }

  /** Stops the workers without waiting for verdicts: running requests reject with HONE_ERR_STATE. */
  abandon(): Promise<void> {
    this.#abandoned = true;
    this.#closed.abort();
    void this.#place.close(); // the processes are killed, and with them their running jobs
    return this.close();
  }

  /** Lets running verifications end, each within its limit, and stops the workers. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#running).then(async () => {
      await this.#place.close();
      this.#closed.abort();
    });
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #verifyGroup(requests: readonly VerificationRequest[]): Promise<Verdict[]> {
    const byVerifier = new Map<CountedJudge, number[]>();
    for (const [index, { problem }] of requests.entries()) {
      const verifier = this.#of(problem.verifier);
      byVerifier.set(verifier, [...(byVerifier.get(verifier) ?? []), index]);
    }
    const verdicts = new Array<Verdict>(requests.length);
    const all = [...byVerifier].map(async ([verifier, indices]) => {
      const judged = await verifier.judge(indices.map((index) => requests[index]!));
      for (const [k, index] of indices.entries()) verdicts[index] = judged[k]!;
    });
    await Promise.all(all);
    return verdicts;
  }

  /** Throws HONE_ERR_CONFIG for an unknown name. */
  #of(name: string): CountedJudge {
    const verifier = this.#verifiers.get(name);
    if (verifier !== undefined) return verifier;
    const known = [...this.#verifiers.keys()].join(", ");
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `there is no verifier named ${JSON.stringify(name)}; known: ${known}`,
    );
  }
}
