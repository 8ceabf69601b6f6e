import type { RewardScale } from "../../domains/reward-scale.ts";
import { type VerifierLimits, wrong } from "../../domains/verifier.ts";
import { HoneError } from "../../errors.ts";
import type { FinishReason, Problem, Verdict } from "../../records.ts";
import { Semaphore } from "../../shared/async/semaphore.ts";
import type { PythonCall } from "../python/python-call.ts";
import { groupedMessages, messagesOf } from "./messages.ts";
import { noAnswerIn, tooSlow } from "./time-limit.ts";
import type { JobEnd, VerificationJob } from "./verification-job.ts";
import { VerifierMeter } from "./verifier-stats.ts";
import { abandoned } from "./worker-group.ts";

/** One completion to judge. */
export interface VerificationRequest {
  readonly problem: Problem;
  /** Decoded response with its special tokens spelled out. */
  readonly text: string;
  readonly finish: FinishReason;
  /** Token ids, and the weight version of each, of a rollout. */
  readonly tokens?: Int32Array;
  readonly versions?: Uint32Array;
}

/** Runs a verifier's jobs. */
export interface Workers {
  /** Current number of processes that judge at the same time. */
  readonly count: number;
  /** Milliseconds for importing and preparing a verifier. */
  readonly loadTimeoutMs: number;
  /** Environment variables that users' modules receive. */
  readonly variables: readonly string[];
  readonly abandoned: boolean;
  run(heapMb: number, job: VerificationJob): Promise<JobEnd>;
}

/** Number of times that loading a verifier may exceed the time limit before the verifier is given up. */
const LOAD_ATTEMPTS = 2;

export interface PooledVerifierOptions {
  readonly name: string;
  /** Module of a user's verifier. */
  readonly moduleUrl?: string | undefined;
  /** True if the module is a reward of the recipe. */
  readonly isReward?: boolean | undefined;
  /** A function in a Python file that replaces the module. */
  readonly python?: PythonCall | undefined;
  /** Scale of the reward's numbers. */
  readonly scale?: RewardScale | undefined;
  /** Domain of a built-in verifier. */
  readonly domain?: string | undefined;
  /** Limits for verifiers that set none. */
  readonly defaults: Required<Pick<VerifierLimits, "timeoutMs" | "heapMb">>;
  /** The limits that a built-in verifier states; a user's states them when it is loaded. */
  readonly stated?: VerifierLimits | undefined;
  /** Limits from the recipe; they override the limits that the verifier exports. */
  readonly overrides?: VerifierLimits | undefined;
  /** Time limit for loading; overrides the pool's. */
  readonly loadTimeoutMs?: number | undefined;
  readonly variables?: readonly string[] | undefined;
}

/** One verifier of the pool: sends its completions to the workers, within its limits, and counts outcomes. */
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

  /** Time limit per completion in milliseconds. */
  get timeoutMs(): number {
    return this.#limits.timeoutMs;
  }

  /**
   * Verdicts in the order of the requests. Sends until each has one; every round decides at least one or uses up its
   * retry. Throws HONE_ERR_VERIFIER if loading never ends, HONE_ERR_STATE if the pool is abandoned.
   */
  async judge(requests: readonly VerificationRequest[]): Promise<Verdict[]> {
    await this.#ask();
    const verdicts = new Array<Verdict>(requests.length);
    const retried = new Set<number>();
    const inGroups = this.#options.python !== undefined;
    const batches = inGroups
      ? groupedMessages(requests.length, this.meter.meanMs, (index) => isOneGroup(requests, index - 1, index))
      : messagesOf(requests.length, this.meter.meanMs);
    const decide = (index: number, verdict: Verdict, again: number[]) => {
      if (verdict.status === "unscored" && verdict.notApplicable !== true && !retried.has(index)) {
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
        // Completions that a killed worker had judged are judged again: verifiers are pure and most are quick.
        const suspects = end.member === undefined ? batch : [batch[end.member]!];
        const rest = batch.filter((index) => !suspects.includes(index));
        for (const index of suspects) decide(index, this.#verdictOf(end, retried.has(index)), again);
        if (rest.length > 0) batches.push(rest);
      }
      if (again.length > 0) batches.push(...(inGroups ? groupsOf(again, requests) : [again]));
    }
    return verdicts;
  }

  /** Sends one message to a worker and counts its cost. */
  async #send(requests: readonly VerificationRequest[]): Promise<JobEnd> {
    if (this.#workers.abandoned) throw abandoned();
    const end = await this.#run(requests);
    this.#hungLoads = isHungLoad(end) ? this.#hungLoads + 1 : 0;
    if (end.kind === "done") {
      if (end.outcomes.some(({ isLost }) => isLost)) this.meter.crashes += 1;
      for (const { microseconds, isLate } of end.outcomes) {
        if (isLate) this.meter.timeouts += 1;
        this.meter.recordCall(microseconds);
        this.#noteOverrun(microseconds / 1000);
      }
    } else if (end.kind === "expired" && (end.phase === "verifying" || end.phase === "waiting")) {
      this.meter.timeouts += 1;
      this.#noteOverrun(end.elapsedMs);
    } else this.meter.crashes += 1;
    if (this.#hungLoads >= LOAD_ATTEMPTS) throw neverLoads(this.#options, this.#loadTimeoutMs);
    return end;
  }

  /** Queries the limits of a user's module, which are known once a process has loaded it; retries until there is an answer. */
  #ask(): Promise<void> {
    const { moduleUrl, python } = this.#options;
    if (moduleUrl === undefined && python === undefined) return Promise.resolve();
    this.#asking ??= this.#run([]).then((end) => {
      if (end.kind === "done" && moduleUrl !== undefined) this.#limit(end.limits ?? {});
      if (end.kind === "done") this.meter.about = end.about;
      else this.#asking = undefined; // ignored: the error appears again in a later call, which reports it
      if (isHungLoad(end)) this.#hungLoads += 1;
    });
    return this.#asking;
  }

  #run(requests: readonly VerificationRequest[]): Promise<JobEnd> {
    const { name, moduleUrl, python, isReward, scale, domain } = this.#options;
    const { heapMb, timeoutMs } = this.#limits;
    const { variables = this.#workers.variables } = this.#options;
    const isUsers = moduleUrl !== undefined || python !== undefined;
    return this.#workers.run(heapMb, {
      verifier: name,
      ...(moduleUrl === undefined ? {} : { moduleUrl }),
      ...(isUsers && variables.length > 0 && { variables }),
      ...(isReward && { isReward }),
      ...(python && { python }),
      ...(scale && { scale }),
      ...(domain === undefined ? {} : { domain }),
      members: requests.map(python === undefined ? memberOf : sampledMemberOf),
      timeoutMs,
      loadTimeoutMs: this.#loadTimeoutMs,
    });
  }

  get #loadTimeoutMs(): number {
    return this.#options.loadTimeoutMs ?? this.#workers.loadTimeoutMs;
  }

  #limit(stated: VerifierLimits): void {
    const { defaults, overrides } = this.#options;
    const { timeoutMs, heapMb, concurrency } = { ...defaults, ...stated, ...overrides };
    this.#limits = { timeoutMs, heapMb };
    this.#semaphore = new Semaphore(() => concurrency ?? this.#workers.count);
  }

  /** The verdict on a completion whose worker was ended. */
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

type Member = VerificationJob["members"][number];

const memberOf = ({ problem, text, finish }: VerificationRequest): Member => ({
  reference: problem.reference,
  text,
  finish,
});

function sampledMemberOf(request: VerificationRequest): Member {
  const { tokens, versions } = request;
  return {
    ...memberOf(request),
    ...(tokens && { ids: Array.from(tokens) }),
    ...(versions && versions.length > 0 && { step: versions.at(-1)! }),
  };
}

/** True if two requests are about the same problem. */
const isOneGroup = (requests: readonly VerificationRequest[], a: number, b: number): boolean =>
  requests[a]!.problem.id === requests[b]!.problem.id;

/**
 * Splits requests that are judged again by problem, so that a failing group costs no other its verdict. The
 * group to send first is last.
 */
function groupsOf(again: readonly number[], requests: readonly VerificationRequest[]): number[][] {
  const groups: number[][] = [];
  for (const index of again) {
    const last = groups.at(-1);
    if (last !== undefined && isOneGroup(requests, last[0]!, index)) last.push(index);
    else groups.push([index]);
  }
  return groups.reverse();
}

function neverLoads(
  { name, python, moduleUrl = python?.file }: PooledVerifierOptions,
  loadTimeoutMs: number,
): HoneError {
  const module = moduleUrl === undefined ? "" : ` (${moduleUrl})`;
  return new HoneError(
    "HONE_ERR_VERIFIER",
    `verifier ${JSON.stringify(name)}${module} did not load in ${loadTimeoutMs} ms, ${LOAD_ATTEMPTS} times`,
    { hint: "Something that its module does while it is imported, or its prepare(), does not end." },
  );
}

const isHungLoad = (end: JobEnd): boolean => end.kind === "expired" && end.phase === "loading";
