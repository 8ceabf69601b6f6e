import type { RewardScale } from "../../domains/reward-scale.ts";
import { type VerifierLimits, wrong } from "../../domains/verifier.ts";
import { HoneError } from "../../errors.ts";
import type { FinishReason, Problem, Verdict } from "../../records.ts";
import { Semaphore } from "../../semaphore.ts";
import { messagesOf } from "./messages.ts";
import { noAnswerIn, tooSlow } from "./time-limit.ts";
import type { JobEnd, VerificationJob } from "./verification-job.ts";
import { VerifierMeter } from "./verifier-stats.ts";
import { abandoned } from "./worker-group.ts";

/** One completion to be judged. */
export interface VerificationRequest {
  readonly problem: Problem;
  /** Decoded response with its special tokens spelled out. */
  readonly text: string;
  readonly finish: FinishReason;
}

/** Where a verifier's jobs run. */
export interface Workers {
  /** Processes that judge at the same time: as many as there are now. */
  readonly count: number;
  /** Milliseconds for importing and preparing a verifier. */
  readonly loadTimeoutMs: number;
  /** Environment variables that users' modules are given. */
  readonly variables: readonly string[];
  readonly abandoned: boolean;
  run(heapMb: number, job: VerificationJob): Promise<JobEnd>;
}

/** Loads that may exceed their time limit before a verifier is given up. */
const LOAD_ATTEMPTS = 2;

export interface PooledVerifierOptions {
  readonly name: string;
  /** Of a user's verifier. */
  readonly moduleUrl?: string | undefined;
  /** The module is a reward of the recipe's. */
  readonly isReward?: boolean | undefined;
  /** Of such a reward's numbers. */
  readonly scale?: RewardScale | undefined;
  /** Of a built-in verifier. */
  readonly domain?: string | undefined;
  /** Limits where the verifier states none. */
  readonly defaults: Required<Pick<VerifierLimits, "timeoutMs" | "heapMb">>;
  /** The limits that a built-in verifier states; a user's states them when it is loaded. */
  readonly stated?: VerifierLimits | undefined;
  /** Override the limits that the verifier states. */
  readonly overrides?: VerifierLimits | undefined;
}

/**
 * One verifier of the pool: sends its completions to the workers, within its limits, and counts what became of them.
 */
export class PooledVerifier {
  readonly meter = new VerifierMeter();
  readonly #options: PooledVerifierOptions;
  readonly #workers: Workers;
  #limits: { readonly timeoutMs: number; readonly heapMb: number };
  #semaphore: Semaphore;
  /** Consecutive loads that exceeded their time limit. */
  #hungLoads = 0;
  /** The request for the limits that a user's module states. */
  #asking: Promise<void> | undefined;

  constructor(options: PooledVerifierOptions, workers: Workers) {
    this.#options = options;
    this.#workers = workers;
    this.#limits = { ...options.defaults };
    this.#semaphore = new Semaphore(() => workers.count);
    this.#limit(options.stated ?? {});
  }

  /** Milliseconds that one completion may take. */
  get timeoutMs(): number {
    return this.#limits.timeoutMs;
  }

  /**
   * Verdicts in the order of the requests. Sends until each has one; every round decides at least one or uses up its
   * retry. Throws HONE_ERR_VERIFIER when loading never ends, HONE_ERR_STATE when the pool is abandoned.
   */
  async judge(requests: readonly VerificationRequest[]): Promise<Verdict[]> {
    await this.#ask();
    const verdicts = new Array<Verdict>(requests.length);
    const retried = new Set<number>();
    const batches = messagesOf(requests.length, this.meter.meanMs);
    const decide = (index: number, verdict: Verdict, again: number[]) => {
      if (verdict.status === "unscored" && !retried.has(index)) {
        retried.add(index);
        this.meter.retries += 1;
        again.push(index);
        return;
      }
      this.meter.recordVerdict(verdict);
      verdicts[index] = verdict;
    };
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      const members = batch.map((index) => requests[index]!);
      const end = await this.#semaphore.run(() => this.#send(members));
      if (this.#workers.abandoned) throw abandoned();
      const again: number[] = [];
      if (end.kind === "done") {
        for (const [k, { verdict }] of end.outcomes.entries()) decide(batch[k]!, verdict, again);
      } else {
        // What a killed worker had judged is judged again: verifiers are pure and most are quick.
        const suspects = end.member === undefined ? batch : [batch[end.member]!];
        const rest = batch.filter((index) => !suspects.includes(index));
        for (const index of suspects) decide(index, this.#verdictOf(end, retried.has(index)), again);
        if (rest.length > 0) batches.push(rest);
      }
      if (again.length > 0) batches.push(again);
    }
    return verdicts;
  }

  /** Sends one message to a worker and counts its cost. */
  async #send(requests: readonly VerificationRequest[]): Promise<JobEnd> {
    if (this.#workers.abandoned) throw abandoned();
    const end = await this.#run(requests);
    this.#hungLoads = isHungLoad(end) ? this.#hungLoads + 1 : 0;
    if (end.kind === "done") {
      for (const { microseconds, isLate } of end.outcomes) {
        if (isLate) this.meter.timeouts += 1;
        this.meter.recordCall(microseconds);
        this.#noteOverrun(microseconds / 1000);
      }
    } else if (end.kind === "expired" && (end.phase === "verifying" || end.phase === "waiting")) {
      this.meter.timeouts += 1;
      this.#noteOverrun(end.elapsedMs);
    } else this.meter.crashes += 1;
    if (this.#hungLoads >= LOAD_ATTEMPTS) throw this.#neverLoads();
    return end;
  }

  /**
   * A user's module states its limits when it is loaded, which only happens in a process; asks until there is an
   * answer.
   */
  #ask(): Promise<void> {
    if (this.#options.moduleUrl === undefined) return Promise.resolve();
    this.#asking ??= this.#run([]).then((end) => {
      if (end.kind === "done") this.#limit(end.limits ?? {});
      else this.#asking = undefined; // the error will appear again in a call that can report it
      if (isHungLoad(end)) this.#hungLoads += 1;
    });
    return this.#asking;
  }

  #run(requests: readonly VerificationRequest[]): Promise<JobEnd> {
    const { name, moduleUrl, isReward, scale, domain } = this.#options;
    const { heapMb, timeoutMs } = this.#limits;
    const { variables } = this.#workers;
    return this.#workers.run(heapMb, {
      verifier: name,
      ...(moduleUrl === undefined ? {} : { moduleUrl }),
      ...(moduleUrl !== undefined && variables.length > 0 && { variables }),
      ...(isReward && { isReward }),
      ...(scale && { scale }),
      ...(domain === undefined ? {} : { domain }),
      members: requests.map(({ problem, text, finish }) => ({ reference: problem.reference, text, finish })),
      timeoutMs,
      loadTimeoutMs: this.#workers.loadTimeoutMs,
    });
  }

  #limit(stated: VerifierLimits): void {
    const { defaults, overrides } = this.#options;
    const { timeoutMs, heapMb, concurrency } = { ...defaults, ...stated, ...overrides };
    this.#limits = { timeoutMs, heapMb };
    this.#semaphore = new Semaphore(() => concurrency ?? this.#workers.count);
  }

  /** The verdict on a completion whose worker had to be given up. */
  #verdictOf({ phase, ...end }: Exclude<JobEnd, { kind: "done" }>, isRetry: boolean): Verdict {
    const { timeoutMs, heapMb } = this.#limits;
    if (phase === "verifying" && end.kind === "expired") return tooSlow(timeoutMs);
    if (phase === "verifying" && end.kind === "exhausted" && isRetry)
      return wrong(`verification took over ${heapMb} MiB`);
    const what = WORK[phase];
    if (end.kind === "expired" && phase === "waiting") return noAnswerIn(timeoutMs);
    if (end.kind === "expired") return { status: "unscored", cause: `${what} took too long` };
    const cause = end.kind === "exhausted" ? "its memory was full" : end.cause;
    return { status: "unscored", cause: `worker lost${what && ` while ${what}`}: ${cause}` };
  }

  #neverLoads(): HoneError {
    const { name, moduleUrl } = this.#options;
    const module = moduleUrl === undefined ? "" : ` (${moduleUrl})`;
    const { loadTimeoutMs } = this.#workers;
    return new HoneError(
      "HONE_ERR_VERIFIER",
      `verifier ${JSON.stringify(name)}${module} did not load in ${loadTimeoutMs} ms, ${LOAD_ATTEMPTS} times`,
      { hint: "Something that its module does while it is imported, or its prepare(), does not end." },
    );
  }

  #noteOverrun(elapsedMs: number): void {
    this.meter.overrunMs = Math.max(this.meter.overrunMs, elapsedMs - this.#limits.timeoutMs);
  }
}

const WORK = {
  waiting: "waiting for the reward",
  reference: "reading the reference",
  loading: "loading the verifier",
  verifying: "",
  idle: "",
} as const;

const isHungLoad = (end: JobEnd): boolean => end.kind === "expired" && end.phase === "loading";
