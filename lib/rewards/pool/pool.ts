import { Piscina } from "piscina";
import { type VerifierLimits, wrong } from "../../domains/verifier.ts";
import { VERIFIERS } from "../../domains/verifiers.ts";
import { HoneError } from "../../errors.ts";
import type { FinishReason, Problem, Verdict } from "../../records.ts";
import { ProcessRoster } from "./process-roster.ts";
import { Semaphore } from "./semaphore.ts";
import type { JobEnd, VerificationJob } from "./verification-job.ts";
import type { DispatcherOptions } from "./verifier-dispatcher.ts";
import { tsxUrl } from "./verifier-process.ts";
import { VerifierMeter, type VerifierStats } from "./verifier-stats.ts";

/** One completion to be judged. */
export interface VerificationRequest {
  readonly problem: Problem;
  /** Decoded response with its special tokens spelled out. */
  readonly text: string;
  readonly finish: FinishReason;
}

export interface VerifierPoolOptions {
  /** Processes that judge at the same time. Default 1. */
  readonly workers?: number;
  /** By verifier name; stronger than what the verifier itself states. */
  readonly limits?: Readonly<Record<string, VerifierLimits>>;
  /** Milliseconds for one completion where neither `limits` nor the verifier says. Default 2000. */
  readonly timeoutMs?: number;
  /** Users' own verifiers: name to the URL of a `.js` or `.ts` module; see load-verifier.ts. */
  readonly modules?: Readonly<Record<string, string | URL>>;
  /** Heap of one worker where a verifier's limits do not say. Default 256. */
  readonly workerHeapMb?: number;
  /** Milliseconds for importing and preparing a verifier. Default 30,000. */
  readonly loadTimeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 2000;
const LOAD_TIMEOUT_MS = 30_000;
const DEFAULT_HEAP_MB = 256;
/** Completions in one message to a worker: few enough that what is judged shows in the counts before long. */
const MESSAGE_COMPLETIONS = 32;
/** Processes that one thread hands jobs to. */
const PROCESSES_PER_THREAD = 8;
/** Loads that may run into their limit before a verifier is given up. */
const LOAD_ATTEMPTS = 2;

interface Judge {
  readonly name: string;
  readonly moduleUrl: string | undefined;
  timeoutMs: number;
  heapMb: number;
  semaphore: Semaphore;
  readonly meter: VerifierMeter;
  /** Loads in a row that ran into their limit. */
  hungLoads: number;
  /** Of a user's: what is known of its limits without it, and the question to it. */
  readonly known: { readonly weaker: VerifierLimits; readonly stronger: VerifierLimits };
  asking: Promise<void> | undefined;
}

/**
 * Judges completions in processes that never load the native addon, so that nothing a verifier does to its own reaches
 * this one. A completion that makes its verifier hang costs the time limit and a new process, and scores 0: that is its
 * own doing. A verifier that throws or a process that dies is our fault: the completion is judged once more, then given
 * up as unscored; but one that fills a fresh process's memory a second time scores 0. Verifiers with a heap of their
 * own have processes of their own.
 */
export class VerifierPool implements AsyncDisposable {
  readonly #workers: number;
  /** By heap of their workers; started when first needed. */
  readonly #crews = new Map<number, Crew>();
  readonly #judges = new Map<string, Judge>();
  readonly #running = new Set<Promise<Verdict[]>>();
  readonly #loadTimeoutMs: number;
  #closing: Promise<void> | undefined;
  #abandoned = false;

  constructor(options: VerifierPoolOptions = {}) {
    const { workers = 1, workerHeapMb: heapMb = DEFAULT_HEAP_MB, loadTimeoutMs = LOAD_TIMEOUT_MS } = options;
    this.#workers = workers;
    this.#loadTimeoutMs = loadTimeoutMs;
    const modules = Object.entries(options.modules ?? {});
    const weaker = { heapMb, timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS };
    for (const { name, limits } of VERIFIERS)
      this.#addJudge(name, undefined, { ...weaker, ...limits }, options.limits?.[name]);
    for (const [name, url] of modules) this.#addJudge(name, String(url), weaker, options.limits?.[name]);
    const unknown = Object.keys(options.limits ?? {}).find((name) => !this.#judges.has(name));
    if (unknown !== undefined) throw this.#unknownVerifier(unknown);
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

  /** By verifier name, those that were used. */
  stats(): Record<string, VerifierStats> {
    const snapshots = [...this.#judges].map(([name, { meter }]) => [name, meter.snapshot()] as const);
    return Object.fromEntries(snapshots.filter(([, s]) => s.calls + s.timeouts + s.crashes + s.unscored > 0));
  }

  /** Stops the workers without waiting for verdicts that nobody will read: what is running rejects with HONE_ERR_STATE. */
  abandon(): Promise<void> {
    this.#abandoned = true;
    for (const crew of this.#crews.values()) void crew.close(); // what runs ends with its process
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
    await this.#ask(judge);
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
      const members = batch.map((index) => requests[index]!);
      const end = await judge.semaphore.run(() => this.#send(judge, members));
      if (this.#abandoned) throw abandoned();
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

  /** One message to a worker, and what it cost. */
  async #send(judge: Judge, requests: readonly VerificationRequest[]): Promise<JobEnd> {
    if (this.#abandoned) throw abandoned();
    const end = await this.#judge(judge, requests);
    const { meter } = judge;
    judge.hungLoads = isHungLoad(end) ? judge.hungLoads + 1 : 0;
    if (end.kind === "done") {
      for (const { microseconds } of end.outcomes) {
        meter.recordCall(microseconds);
        noteOverrun(judge, microseconds / 1000);
      }
    } else if (end.kind === "expired" && end.phase === "verifying") {
      meter.timeouts += 1;
      noteOverrun(judge, end.elapsedMs);
    } else meter.crashes += 1;
    if (judge.hungLoads >= LOAD_ATTEMPTS) throw neverLoads(judge, this.#loadTimeoutMs);
    return end;
  }

  #crew(heapMb: number): Crew {
    const crew = this.#crews.get(heapMb) ?? new Crew(this.#workers, heapMb);
    this.#crews.set(heapMb, crew);
    return crew;
  }

  #addJudge(name: string, moduleUrl: string | undefined, weaker: VerifierLimits, stronger = {}): void {
    const known = { weaker, stronger };
    this.#judges.set(name, {
      name,
      moduleUrl,
      ...this.#limitsOf({ ...weaker, ...stronger }),
      meter: new VerifierMeter(),
      hungLoads: 0,
      known,
      asking: undefined,
    });
  }

  #limitsOf({ timeoutMs = DEFAULT_TIMEOUT_MS, heapMb = DEFAULT_HEAP_MB, concurrency }: VerifierLimits) {
    return { timeoutMs, heapMb, semaphore: new Semaphore(concurrency ?? this.#workers) };
  }

  /** A user's module says what it needs where it is loaded, which is in a process; asked until there is an answer. */
  #ask(judge: Judge): Promise<void> {
    if (judge.moduleUrl === undefined) return Promise.resolve();
    judge.asking ??= this.#judge(judge, []).then((end) => {
      const { weaker, stronger } = judge.known;
      if (end.kind === "done")
        Object.assign(judge, this.#limitsOf({ ...weaker, ...end.limits, ...stronger }));
      else judge.asking = undefined; // whatever it was, it shows again where there is somebody to tell
      if (isHungLoad(end)) judge.hungLoads += 1;
    });
    return judge.asking;
  }

  #judge(judge: Judge, requests: readonly VerificationRequest[]): Promise<JobEnd> {
    return this.#crew(judge.heapMb).judge({
      verifier: judge.name,
      ...(judge.moduleUrl === undefined ? {} : { moduleUrl: judge.moduleUrl }),
      members: requests.map(({ problem, text, finish }) => ({ reference: problem.reference, text, finish })),
      timeoutMs: judge.timeoutMs,
      loadTimeoutMs: this.#loadTimeoutMs,
    });
  }

  #unknownVerifier(name: string): HoneError {
    const known = [...this.#judges.keys()].join(", ");
    return new HoneError("HONE_ERR_CONFIG", `no verifier is called ${JSON.stringify(name)}; known: ${known}`);
  }
}

/** Processes with one limit of heap, and the threads that hand them jobs. */
class Crew {
  readonly #roster: ProcessRoster;
  readonly #threads: Piscina<VerificationJob, JobEnd>;
  #closing: Promise<void> | undefined;

  constructor(workers: number, heapMb: number) {
    const threads = Math.ceil(workers / PROCESSES_PER_THREAD);
    const isSource = import.meta.url.endsWith(".ts");
    this.#roster = new ProcessRoster(2 * workers); // one that is ending beside its successor
    const workerData: DispatcherOptions = { heapMb, roster: this.#roster.buffer };
    this.#threads = new Piscina({
      filename: new URL(isSource ? "./verifier-worker.ts" : "./verifier-worker.js", import.meta.url).href,
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: Math.ceil(workers / threads),
      idleTimeout: Number.POSITIVE_INFINITY,
      atomics: "disabled", // an idle thread must hear its processes
      workerData,
      execArgv: isSource ? ["--import", tsxUrl()] : [],
    });
    // Without a listener an error of a thread without a task would end the process.
    this.#threads.on("error", () => {});
  }

  /** Rejects with HONE_ERR_STATE once the crew closes. */
  async judge(job: VerificationJob): Promise<JobEnd> {
    try {
      return await this.#threads.run(job);
    } catch (error) {
      if (this.#closing) throw abandoned();
      const cause = String(error); // a thread that is lost, a reference that cannot be sent
      return { kind: "lost", phase: "idle", member: undefined, elapsedMs: 0, cause };
    }
  }

  /** Ends the processes, then the threads that have to wait for them. Jobs that run end as lost. */
  close(): Promise<void> {
    this.#closing ??= this.#roster.dismiss().then(() => this.#threads.destroy());
    return this.#closing;
  }
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
  const { kind, phase } = end;
  if (phase === "verifying" && kind === "expired")
    return wrong(`verification took over ${judge.timeoutMs} ms`);
  if (phase === "verifying" && kind === "exhausted" && isRetry)
    return wrong(`verification took over ${judge.heapMb} MiB`);
  const what = {
    reference: "reading the reference",
    loading: "loading the verifier",
    verifying: "",
    idle: "",
  }[phase];
  if (kind === "expired") return { status: "unscored", cause: `${what} took too long` };
  const cause = kind === "exhausted" ? "its memory was full" : end.cause;
  return { status: "unscored", cause: `worker lost${what && ` while ${what}`}: ${cause}` };
}

const isHungLoad = (end: JobEnd): boolean => end.kind === "expired" && end.phase === "loading";

const abandoned = () => new HoneError("HONE_ERR_STATE", "the verifier pool was abandoned");

function neverLoads({ name, moduleUrl }: Judge, loadTimeoutMs: number): HoneError {
  const module = moduleUrl === undefined ? "" : ` (${moduleUrl})`;
  return new HoneError(
    "HONE_ERR_VERIFIER",
    `verifier ${JSON.stringify(name)}${module} did not load in ${loadTimeoutMs} ms, ${LOAD_ATTEMPTS} times`,
    { hint: "Something that its module does while it is imported, or its prepare(), does not end." },
  );
}

function noteOverrun({ meter, timeoutMs }: Judge, elapsedMs: number): void {
  meter.overrunMs = Math.max(meter.overrunMs, elapsedMs - timeoutMs);
}
