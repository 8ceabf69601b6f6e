import { spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { recipeInput } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { writeWhole } from "../metrics/index.ts";
import { lockFolder } from "../shared/files/folder-lock.ts";
import { APPENDING } from "../shared/files/plain-file.ts";
import { type Job, startCheckpoint } from "./plan.ts";

/** How a process ended: by itself, on request, or with an error and its last message. */
export type Ending =
  | { readonly state: "done" | "stopped" }
  | { readonly state: "failed"; readonly error: string };

export interface ProcessOptions {
  /** The sweep's folder. */
  readonly dir: string;
  /** Command before `run`: node, its options and the command's main file. */
  readonly command: readonly string[];
  /** Threads of the core in each process; undefined: the process decides. */
  readonly threads?: number | undefined;
  readonly signal: AbortSignal;
}

/** A run that trained nothing also exits with this code, after writing its results. */
const TRAINED_NOTHING = 4;
const TAIL_BYTES = 16_384;

/**
 * Runs one job as `hone run` in a separate process, with its output in `<id>.log`; resumes an interrupted session.
 * The process has its own process group, so that Ctrl-C reaches it once, through the sweep; and a channel to this
 * one, so that it saves and stops if this one is killed.
 * @param isDone tells whether its folder has a finished run
 */
export async function runProcess(
  job: Job,
  isDone: () => boolean,
  { dir, command, threads, signal }: ProcessOptions,
): Promise<Ending> {
  const folder = join(dir, job.id);
  if (!(await isFree(folder, signal))) return { state: "stopped" };
  if (isDone()) return { state: "done" };
  const log = openLog(dir, job);
  const environment = { ...process.env, ...(threads !== undefined && { HONE_THREADS: String(threads) }) };
  const [program, ...before] = command as [string, ...string[]];
  try {
    const child = spawn(program, [...before, ...runArguments(dir, job)], {
      stdio: ["ignore", log, log, "ipc"],
      detached: true,
      env: environment,
    });
    const stop = () => child.kill("SIGINT");
    const kill = () => child.kill("SIGKILL");
    signal.addEventListener("abort", stop, { once: true });
    process.once("exit", kill);
    const how = await ending(child);
    signal.removeEventListener("abort", stop);
    process.removeListener("exit", kill);
    return judge(how, isDone(), signal.aborted, logPath(dir, job));
  } finally {
    closeSync(log);
  }
}

interface Exit {
  readonly code: number | null;
  readonly by: NodeJS.Signals | null;
  readonly fault?: Error;
}

function ending(child: ReturnType<typeof spawn>): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("error", (fault) => resolve({ code: null, by: null, fault }));
    child.once("exit", (code, by) => resolve({ code, by }));
  });
}

function judge({ code, by, fault }: Exit, done: boolean, aborted: boolean, log: string): Ending {
  if (done && (code === 0 || code === TRAINED_NOTHING)) return { state: "done" };
  if (aborted) return { state: "stopped" };
  if (fault !== undefined) return { state: "failed", error: fault.message };
  if (by !== null) return { state: "failed", error: `killed by ${by}` };
  return { state: "failed", error: logTail(log) ?? `exit code ${code}` };
}

const logPath = (dir: string, { id }: Job): string => join(dir, `${id}.log`);
/** Path of a job's recipe file, beside its run folder. `hone run` reads this file like any recipe. */
const recipePath = (dir: string, { id }: Job): string => join(dir, `${id}.recipe.mjs`);

function openLog(dir: string, job: Job): number {
  const path = logPath(dir, job);
  mkdirSync(dirname(path), { recursive: true });
  return openSync(path, APPENDING);
}

function runArguments(dir: string, job: Job): string[] {
  const recipe = recipePath(dir, job);
  writeWhole(recipe, `export default ${JSON.stringify(recipeInput(job.recipe), null, 2)};\n`);
  const from = job.needs === undefined ? [] : ["--start-from", startCheckpoint(dir, job.needs)];
  return ["run", recipe, "--dir", join(dir, job.id), "--resume", ...from];
}

/** Time for a run of a killed sweep to save and stop. */
const WAIT_MS = 120_000;
const LOOK_MS = 250;

/** Waits until the run folder is unlocked; false if the sweep is stopped meanwhile. Throws HONE_ERR_USAGE after two minutes. */
async function isFree(folder: string, signal: AbortSignal): Promise<boolean> {
  for (let waited = 0; !signal.aborted; waited += LOOK_MS) {
    try {
      const lock = await lockFolder(folder);
      lock[Symbol.dispose]();
      return !signal.aborted; // the sweep may have been aborted before the process existed to receive the signal
    } catch (error) {
      if (!HoneError.is(error) || error.code !== "HONE_ERR_USAGE" || waited >= WAIT_MS) throw error;
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
  }
  return false;
}

/** The error at the end of a log, or its last line; undefined if it is empty. */
export function logTail(log: string): string | undefined {
  const lines = tailOf(log)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.findLast((line) => /^HONE_ERR_\w+ /.test(line)) ?? lines.at(-1);
}

/** "step 12 of 100" from the progress in a log; undefined if it has none. */
export function progressIn(log: string): string | undefined {
  const line = tailOf(log)
    .split("\n")
    .findLast((text) => /^(?:phase|step)=/.test(text));
  if (line === undefined) return undefined;
  const step = /^step=(\d+)/.exec(line)?.[1];
  if (step !== undefined) return `step ${step}`;
  const [, phase, done] = /^phase="([^"]+)"(?: done=(\d+))?/.exec(line) ?? [];
  return phase === undefined ? undefined : done === undefined ? phase : `${phase} ${done}`;
}

function tailOf(log: string): string {
  if (!existsSync(log)) return "";
  const fd = openSync(log, "r");
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8");
  } finally {
    closeSync(fd);
  }
}
