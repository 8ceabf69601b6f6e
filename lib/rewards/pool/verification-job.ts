import { readSync, writeSync } from "node:fs";
import type { RewardScale } from "../../domains/reward-scale.ts";
import type { VerifierLimits } from "../../domains/verifier.ts";
import type { FinishReason, Verdict } from "../../records.ts";
import type { PythonCall } from "../python/python-call.ts";

/** A message to a verifier's process: completions for one verifier to judge. Without members the verifier is only loaded. */
export interface VerificationJob {
  readonly verifier: string;
  /** Module of a user's verifier; absent for built-in ones. */
  readonly moduleUrl?: string;
  /** True if the module is a reward of a recipe: "module.ts#name", whose function may replace a verifier. */
  readonly isReward?: boolean;
  /** A function in a Python file that replaces the verifier; its time limit is for one call with all members. */
  readonly python?: PythonCall;
  /** Scale of the reward's numbers. */
  readonly scale?: RewardScale;
  /** Environment variables that the recipe names for its modules; absent for built-in verifiers. */
  readonly variables?: readonly string[];
  /** Domain of a built-in verifier. */
  readonly domain?: string;
  readonly members: readonly {
    readonly reference: unknown;
    readonly text: string;
    readonly finish: FinishReason;
    /**
     * For Python rewards of this run's completions: token ids, and the number of steps finished before they
     * were sampled.
     */
    readonly ids?: readonly number[] | undefined;
    readonly step?: number | undefined;
  }[];
  /** Time limit in milliseconds for reading one reference and for judging one completion. */
  readonly timeoutMs: number;
  /** Milliseconds for importing and preparing the verifier. */
  readonly loadTimeoutMs: number;
}

/** The outcome of one member. */
export interface MemberOutcome {
  readonly verdict: Verdict;
  readonly microseconds: number;
  /** True if the reward passed its time limit but returned control, so that its worker process was not killed. */
  readonly isLate?: true;
  /** True if the Python process ended instead of giving a reward. */
  readonly isLost?: true;
}

/** Result of a job. */
export interface JobResult {
  /** Outcomes in the order of the members. */
  readonly outcomes: readonly MemberOutcome[];
  /** The limits that the verifier states; undefined if it states none or did not load. */
  readonly limits: VerifierLimits | undefined;
  /** A line about a function of a Python file that was loaded. */
  readonly about?: string | undefined;
}

/**
 * The phases of a process; time limits hold in all but the first. "waiting": a reward's time is up while it waits for
 * something, and not for its own computing.
 */
export const PHASES = ["idle", "loading", "reference", "verifying", "waiting"] as const;
export type Phase = (typeof PHASES)[number];

/** How a process ended a message: with verdicts, or by exiting. */
export type JobEnd =
  | ({ readonly kind: "done" } & JobResult)
  | {
      readonly kind: "expired" | "exhausted" | "lost";
      readonly phase: Phase;
      /** Undefined unless the phase is about one member. */
      readonly member: number | undefined;
      readonly elapsedMs: number;
      /** Why a process was lost, for messages. */
      readonly cause: string;
    };

const WHYS = ["unknown", "expired", "exhausted"] as const;

/** Milliseconds on a clock that all processes of the machine share. */
function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The current phase of a process. */
export interface Progress {
  /** Number of the current job, from 1; 0 before the first one. */
  readonly job: number;
  readonly phase: Phase;
  readonly member: number | undefined;
  readonly elapsedMs: number;
  readonly leftMs: number;
}

/** The phase of a process when it ended, and whether it ended itself: over a limit of time, or of memory. */
export interface Ending extends Pick<Progress, "phase" | "member" | "elapsedMs"> {
  readonly why: (typeof WHYS)[number];
}

/** Size of a progress record (since, limit, member, phase, job) in bytes. The record of the process's end follows it. */
const BYTES = 28;
type JobRecord = readonly [since: number, limit: number, member: number, phase: number, job: number];

/**
 * The current phase of a process and its start, in a file that outlives the process: a process that is stuck in a
 * loop or was killed cannot answer messages, but its earlier writes can be read. A write is one system call of a
 * microsecond.
 */
export class JobProgress {
  readonly #fd: number;
  readonly #record = new DataView(new ArrayBuffer(BYTES));
  #job = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Called when the process takes its next job; the phases that follow belong to this job. Returns its number, from 1. */
  take(): number {
    this.#job += 1;
    return this.#job;
  }

  /** Called when the process begins this phase, with the phase's time limit. */
  begin(phase: Phase, limitMs = Number.POSITIVE_INFINITY, member = -1): void {
    this.#write(0, [sharedNow(), limitMs, member, PHASES.indexOf(phase), this.#job]);
  }

  read(): Progress {
    const [since, limitMs, member, phase, job] = this.#read(0);
    const place = placeOf(member, phase);
    // A process that has not begun its first job has written nothing: its limit reads as 0.
    if (place.phase === "idle") return { job, ...place, elapsedMs: 0, leftMs: Number.POSITIVE_INFINITY };
    const elapsedMs = sharedNow() - since;
    return { job, ...place, elapsedMs, leftMs: limitMs - elapsedMs };
  }

  /** Records that the process ends itself because of this phase. */
  end(why: Exclude<Ending["why"], "unknown">, { job, phase, member = -1, elapsedMs }: Progress): void {
    this.#write(BYTES, [elapsedMs, WHYS.indexOf(why), member, PHASES.indexOf(phase), job]);
  }

  /** Reads how a dead process ended. @param given number of jobs it received; it has not answered the last one */
  readEnd(given: number): Ending {
    const [elapsedMs, why, member, phase, job] = this.#read(BYTES);
    if (why === 0) return { why: "unknown", ...this.read() };
    // it was ended because of an earlier job that it had answered, so the last job is not at fault
    if (job !== given) return { why: "unknown", phase: "idle", member: undefined, elapsedMs: 0 };
    return { why: WHYS[why]!, ...placeOf(member, phase), elapsedMs };
  }

  #write(at: number, [since, limit, member, phase, job]: JobRecord): void {
    this.#record.setFloat64(0, since);
    this.#record.setFloat64(8, limit);
    for (const [i, value] of [member, phase, job].entries()) this.#record.setInt32(16 + 4 * i, value);
    writeSync(this.#fd, this.#record, 0, BYTES, at);
  }

  #read(at: number): JobRecord {
    const record = new DataView(new ArrayBuffer(BYTES)); // zeros if nothing was written yet
    readSync(this.#fd, record, 0, BYTES, at);
    const [member, phase, job] = [16, 20, 24].map((i) => record.getInt32(i)) as [number, number, number];
    return [record.getFloat64(0), record.getFloat64(8), member, phase, job];
  }
}

function placeOf(member: number, phase: number): Pick<Progress, "phase" | "member"> {
  const name = PHASES[phase] ?? "idle";
  return { phase: name, member: member < 0 || name === "idle" || name === "loading" ? undefined : member };
}
