/**
 * A watchdog thread beside a verifier, from its first job on. Ends the process, which may be stuck in a loop, when a time
 * or memory limit is exceeded, or when its parent has exited. The verifier sends it the number of each job that it begins.
 */
import { Socket } from "node:net";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { type Ending, JobProgress, type Progress } from "./verification-job.ts";

export interface WatchdogData {
  /** Limit in MiB for all memory of the process. */
  readonly memoryMb: number;
}

/** Descriptor of the process's progress file. */
export const PROGRESS_FD = 3;
const LOOK_MS = 20;
/** Interval of the looks at a process that has no job. */
const IDLE_LOOK_MS = 1000;
/** A poll this much later than the previous one shows that the process itself was stopped, frozen or starved. */
const STOOD_STILL_MS = 250;
const MEBIBYTE = 1 << 20;

/**
 * Measures time in which the process did not run, from a thread that wakes every few milliseconds. That time does not
 * count towards a verifier's limit: otherwise a completion whose verifier was suspended would score 0 when it resumes.
 */
export class Standstills {
  #lookedAt: number | undefined;
  #gaps: { readonly from: number; readonly to: number }[] = [];

  /** Returns in how many of the `elapsedMs` milliseconds before `at`, the time of this call, the process stood still. */
  look(at: number, elapsedMs: number): number {
    const from = this.#lookedAt ?? at;
    this.#lookedAt = at;
    if (at - from > STOOD_STILL_MS) this.#gaps.push({ from, to: at });
    const since = at - elapsedMs;
    this.#gaps = this.#gaps.filter(({ to }) => to > since);
    return this.#gaps.reduce((sum, gap) => sum + gap.to - Math.max(gap.from, since), 0);
  }
}

/** Returns the limit that a process has exceeded; undefined if none. */
export function passedLimit(
  now: Progress,
  rssBytes: number,
  memoryMb: number,
): Exclude<Ending["why"], "unknown"> | undefined {
  if (now.phase !== "idle" && now.leftMs <= 0) return "expired";
  return rssBytes > memoryMb * MEBIBYTE ? "exhausted" : undefined;
}

/**
 * Returns the milliseconds until the next look.
 * @param given number of jobs that the process was given; it may not have recorded the last one yet
 */
export function untilNextLook(now: Progress, given: number): number {
  const pause = now.phase === "idle" && now.job === given ? IDLE_LOOK_MS : LOOK_MS;
  return Math.max(1, Math.min(now.leftMs, pause));
}

function watch({ memoryMb }: WatchdogData): void {
  const progress = new JobProgress(PROGRESS_FD);
  const standstills = new Standstills();
  let before: Progress | undefined;
  let given = 0; // number of jobs that the process has been given
  let next: NodeJS.Timeout | undefined;
  const look = () => {
    clearTimeout(next);
    const read = progress.read();
    const stood = standstills.look(performance.now(), read.elapsedMs);
    const now = { ...read, elapsedMs: read.elapsedMs - stood, leftMs: read.leftMs + stood };
    const passed = passedLimit(now, process.memoryUsage.rss(), memoryMb);
    // Requires two equal readings: the other thread may be in the middle of writing a record.
    const isSame = before?.phase === now.phase && before.member === now.member;
    before = passed === undefined ? undefined : now;
    if (passed !== undefined && isSame) {
      progress.end(passed, now);
      die();
    }
    next = setTimeout(look, passed === undefined ? untilNextLook(now, given) : 1);
  };
  parentPort!.on("message", (job: number) => {
    given = job;
    look();
  });
  new Socket({ fd: 0 }).on("error", die).on("close", die).resume();
  look();
  parentPort!.postMessage("watching");
}

/** Kills the process and all that it started. */
function die(): void {
  try {
    process.kill(-process.pid, "SIGKILL"); // the process is a group leader, so the signal reaches its children too
  } catch {
    process.kill(process.pid, "SIGKILL");
  }
}

if (!isMainThread) watch(workerData as WatchdogData);
