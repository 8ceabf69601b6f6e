import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Piscina } from "piscina";
import { HoneError } from "../errors.ts";
import type { FinishReason, Problem, Verdict } from "../records.ts";
import { VERIFIERS } from "./registry.ts";
import { Semaphore } from "./semaphore.ts";
import { JobProgress, type MemberOutcome, type VerificationJob } from "./verification-job.ts";
import { type VerifierLimits, wrong } from "./verifier.ts";
import { VerifierMeter, type VerifierStats } from "./verifier-stats.ts";

/** One completion to be judged. */
export interface VerificationRequest {
  readonly problem: Problem;
  /** Decoded response with its special tokens spelled out. */
  readonly text: string;
  readonly finish: FinishReason;
}

export interface VerifierPoolOptions {
  /** Worker threads. Default 1. */
  readonly workers?: number;
  /** By verifier name. */
  readonly limits?: Readonly<Record<string, VerifierLimits>>;
  /** Users' own verifiers: name to the URL of a `.js` or `.ts` module; see load-verifier.ts. */
  readonly modules?: Readonly<Record<string, string | URL>>;
  /** Heap of one worker where a verifier's limits do not say. Default 256. */
  readonly workerHeapMb?: number;
}

const DEFAULT_TIMEOUT_MS = 2000;
const LOAD_TIMEOUT_MS = 30_000;
const DEFAULT_HEAP_MB = 256;
/** Completions in one message to a worker: few enough that what is judged shows in the counts before long. */
const MESSAGE_COMPLETIONS = 32;

/** How one message to a worker ended. */
type JobEnd =
  | { readonly kind: "done"; readonly outcomes: readonly MemberOutcome[] }
  | { readonly kind: "expired"; readonly member: number }
  | {
      readonly kind: "lost";
      readonly member: number | undefined;
      readonly cause: string;
      /** The worker's heap was full. */
      readonly exhausted: boolean;
    };

interface Judge {
  readonly name: string;
  readonly moduleUrl: string | undefined;
  readonly timeoutMs: number;
  readonly heapMb: number;
  readonly semaphore: Semaphore;
  readonly meter: VerifierMeter;
}

/**
 * Judges completions on worker threads that never load the native addon. A completion that makes its verifier
 * hang costs the time limit and a new worker, and scores 0: that is its own doing. A verifier that throws or a
 * worker that dies is our fault: the completion is judged once more, then given up as unscored; but one that fills
 * a fresh worker's heap a second time scores 0. Verifiers with a heap of their own have workers of their own.
 */
export class VerifierPool implements AsyncDisposable {
  readonly #workers: number;
  /** By heap of their workers; started when first needed. */
  readonly #crews = new Map<number, Crew>();
  readonly #judges = new Map<string, Judge>();
  readonly #running = new Set<Promise<Verdict[]>>();
  #closing: Promise<void> | undefined;
  #abandoned = false;

  constructor(options: VerifierPoolOptions = {}) {
    const { workers = 1, workerHeapMb: heapMb = DEFAULT_HEAP_MB } = options;
    this.#workers = workers;
    const modules = Object.entries(options.modules ?? {});
    for (const { name, limits } of VERIFIERS)
      this.#addJudge(name, undefined, { heapMb, ...limits, ...options.limits?.[name] });
    for (const [name, url] of modules)
      this.#addJudge(name, String(url), { heapMb, ...options.limits?.[name] });
    const unknown = Object.keys(options.limits ?? {}).find((name) => !this.#judges.has(name));
    if (unknown !== undefined) throw this.#unknownVerifier(unknown);
  }

  /** Verdicts in the order of the requests. Throws HONE_ERR_CONFIG when a problem names an unknown verifier. */
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

  /** By verifier name, those that were used. */
  stats(): Record<string, VerifierStats> {
    const snapshots = [...this.#judges].map(([name, { meter }]) => [name, meter.snapshot()] as const);
    return Object.fromEntries(snapshots.filter(([, s]) => s.calls + s.timeouts + s.crashes + s.unscored > 0));
  }

  /** Stops the workers without waiting for verdicts that nobody will read: what is running rejects with HONE_ERR_STATE. */
  abandon(): Promise<void> {
    this.#abandoned = true;
    for (const crew of this.#crews.values()) void crew.destroy();
    return this.close();
  }

  /** Lets running verifications end, each within its limit, and stops the workers. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#running).then(async () => {
      await Promise.all([...this.#crews.values()].map((crew) => crew.close()));
    });
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #verifyGroup(group: readonly VerificationRequest[]): Promise<Verdict[]> {
    const byVerifier = new Map<string, number[]>();
    for (const [index, { problem }] of group.entries()) {
      if (!this.#judges.has(problem.verifier)) throw this.#unknownVerifier(problem.verifier);
      const indices = byVerifier.get(problem.verifier) ?? [];
      byVerifier.set(problem.verifier, [...indices, index]);
    }
    const verdicts = new Array<Verdict>(group.length);
    const all = [...byVerifier].map(async ([name, indices]) => {
      const judge = this.#judges.get(name)!;
      const judged = await this.#judgeAll(
        judge,
        indices.map((index) => group[index]!),
      );
      for (const [k, index] of indices.entries()) verdicts[index] = judged[k]!;
    });
    await Promise.all(all);
    return verdicts;
  }

  /** Sends requests until each has a verdict; every round settles at least one or uses up its retry. */
  async #judgeAll(judge: Judge, requests: readonly VerificationRequest[]): Promise<Verdict[]> {
    const verdicts = new Array<Verdict>(requests.length);
    const retried = new Set<number>();
    const batches = messages(requests.length);
    const settle = (index: number, verdict: Verdict, again: number[]) => {
      if (verdict.status === "unscored" && !retried.has(index)) {
        retried.add(index);
        judge.meter.retries += 1;
        again.push(index);
        return;
      }
      if (verdict.status === "unscored") judge.meter.unscored += 1;
      verdicts[index] = verdict;
    };
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      if (this.#abandoned) throw new HoneError("HONE_ERR_STATE", "the verifier pool was abandoned");
      const members = batch.map((index) => requests[index]!);
      const end = await judge.semaphore.run(() => this.#send(judge, members));
      const again: number[] = [];
      if (end.kind === "done") {
        for (const [k, { verdict }] of end.outcomes.entries()) settle(batch[k]!, verdict, again);
      } else {
        // What a killed worker had judged is judged again: verifiers are pure and most are quick.
        const suspects = end.member === undefined ? batch : [batch[end.member]!];
        const rest = batch.filter((index) => !suspects.includes(index));
        for (const index of suspects) settle(index, verdictOf(end, judge, retried.has(index)), again);
        if (rest.length > 0) batches.push(rest);
      }
      if (again.length > 0) batches.push(again);
    }
    return verdicts;
  }

  /** One message to a worker, under the eye of a watchdog. */
  async #send(judge: Judge, requests: readonly VerificationRequest[]): Promise<JobEnd> {
    const progress = new JobProgress();
    const job: VerificationJob = {
      verifier: judge.name,
      ...(judge.moduleUrl === undefined ? {} : { moduleUrl: judge.moduleUrl }),
      members: requests.map(({ problem, text, finish }) => ({ reference: problem.reference, text, finish })),
      progress: progress.buffer,
    };
    const kill = new AbortController();
    let expired: { readonly member: number | undefined } | undefined;
    const watchdog = watch(progress, judge.timeoutMs, (member) => {
      expired = { member }; // by the time the worker is dead it may have moved on to an innocent one
      kill.abort();
    });
    try {
      const outcomes = await this.#crew(judge.heapMb).run(job, { signal: kill.signal });
      for (const { microseconds } of outcomes) {
        judge.meter.recordCall(microseconds);
        noteOverrun(judge, microseconds / 1000);
      }
      return { kind: "done", outcomes };
    } catch (error) {
      if (expired?.member !== undefined) {
        judge.meter.timeouts += 1;
        if (progress.member === expired.member) noteOverrun(judge, progress.elapsedMs);
        return { kind: "expired", member: expired.member };
      }
      judge.meter.crashes += 1;
      const cause = expired ? `verifier did not load in ${LOAD_TIMEOUT_MS} ms` : `worker lost: ${error}`;
      const exhausted = (error as { code?: unknown }).code === "ERR_WORKER_OUT_OF_MEMORY";
      return { kind: "lost", member: progress.member, cause, exhausted };
    } finally {
      watchdog.stop();
    }
  }

  #crew(heapMb: number): Crew {
    const crew = this.#crews.get(heapMb) ?? openCrew(this.#workers, heapMb);
    this.#crews.set(heapMb, crew);
    return crew;
  }

  #addJudge(name: string, moduleUrl: string | undefined, limits: VerifierLimits): void {
    this.#judges.set(name, {
      name,
      moduleUrl,
      timeoutMs: limits.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      heapMb: limits.heapMb ?? DEFAULT_HEAP_MB,
      semaphore: new Semaphore(limits.concurrency ?? this.#workers),
      meter: new VerifierMeter(),
    });
  }

  #unknownVerifier(name: string): HoneError {
    const known = [...this.#judges.keys()].join(", ");
    return new HoneError("HONE_ERR_CONFIG", `no verifier is called ${JSON.stringify(name)}; known: ${known}`);
  }
}

type Crew = Piscina<VerificationJob, MemberOutcome[]>;

function openCrew(workers: number, heapMb: number): Crew {
  const isSource = import.meta.url.endsWith(".ts");
  const crew: Crew = new Piscina({
    filename: new URL(isSource ? "./verifier-worker.ts" : "./verifier-worker.js", import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    idleTimeout: Number.POSITIVE_INFINITY,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    execArgv: isSource ? ["--import", tsxUrl()] : [],
  });
  // A worker that dies without a task, e.g. of its heap while it is being killed, concerns no completion;
  // without a listener its error would end the process.
  crew.on("error", () => {});
  return crew;
}

/** Indices 0 to count - 1 in messages, the first to send last. */
function messages(count: number): number[][] {
  const size = (i: number) => Math.min(MESSAGE_COMPLETIONS, count - i * MESSAGE_COMPLETIONS);
  return Array.from({ length: Math.ceil(count / MESSAGE_COMPLETIONS) }, (_, i) =>
    Array.from({ length: size(i) }, (_, k) => i * MESSAGE_COMPLETIONS + k),
  ).reverse();
}

/** What a completion gets whose worker had to be given up. */
function verdictOf(end: Exclude<JobEnd, { kind: "done" }>, judge: Judge, isRetry: boolean): Verdict {
  if (end.kind === "expired") return wrong(`verification took over ${judge.timeoutMs} ms`);
  if (end.exhausted && isRetry && end.member !== undefined)
    return wrong(`verification took over ${judge.heapMb} MiB`);
  return { status: "unscored", cause: end.cause };
}

function noteOverrun({ meter, timeoutMs }: Judge, elapsedMs: number): void {
  meter.overrunMs = Math.max(meter.overrunMs, elapsedMs - timeoutMs);
}

/** Where workers that run from source find the TypeScript loader, whatever the working directory. */
function tsxUrl(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
}

/** Calls `expire` once a member, or the loading before the first (undefined), has taken longer than its limit. */
function watch(
  progress: JobProgress,
  timeoutMs: number,
  expire: (member: number | undefined) => void,
): { stop(): void } {
  let timer: NodeJS.Timeout;
  const look = () => {
    const { member } = progress;
    const left = (member === undefined ? LOAD_TIMEOUT_MS : timeoutMs) - progress.elapsedMs;
    if (left <= 0) expire(member);
    else timer = setTimeout(look, Math.min(left, timeoutMs));
  };
  timer = setTimeout(look, timeoutMs);
  return { stop: () => clearTimeout(timer) };
}
