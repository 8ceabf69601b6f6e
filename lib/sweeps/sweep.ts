import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { Wake } from "../shared/async/deferred.ts";
import { lockFolder } from "../shared/files/folder-lock.ts";
import { type PlannedCell, planCells, productOf } from "./cells.ts";
import { axesOf, cellsOf, type Study, type SweepDefinition } from "./definition.ts";
import { type Axis, parseGrid } from "./grid.ts";
import { isDone, type JobEntry, JobStates } from "./job-states.ts";
import { type Job, planJobs } from "./plan.ts";
import { runProcess } from "./process.ts";

/** A planned sweep: every cell is validated, nothing has run. */
export interface SweepPlan {
  readonly name: string;
  readonly base: Recipe;
  readonly cells: readonly PlannedCell[];
  readonly seeds: readonly number[];
  readonly jobs: readonly Job[];
  readonly studies: readonly Study[];
}

export interface PlanOptions {
  /** Values of `--grid`; they multiply the definition's cells. */
  readonly grid?: readonly string[];
  /** Number of seeds, from the recipe's upwards. Default: the definition's, or 3. */
  readonly seeds?: number;
  /** Names of the definition's axes to vary. */
  readonly axes?: readonly string[];
}

const SEEDS = 3;

/** @param what a definition, or a recipe. Throws ConfigError with the issues of all cells, HONE_ERR_USAGE. */
export function planSweep(what: SweepDefinition, { grid = [], seeds, axes }: PlanOptions): SweepPlan {
  const more: Axis[] = grid.flatMap(parseGrid);
  const listed = cellsOf(what);
  if (listed.length > 0 && more.length > 0)
    throw new HoneError("HONE_ERR_USAGE", `sweep ${what.name} lists its cells: it takes no --grid`);
  const cells = listed.length > 0 ? listed : productOf([...axesOf(what, axes), ...more]);
  if (listed.length > 0) axesOf(what, axes);
  const count = seeds ?? what.seeds ?? SEEDS;
  const chosen = Array.from({ length: count }, (_, i) => what.recipe.seed + i);
  const planned = planCells(what.recipe, cells);
  const jobs = planJobs(planned, chosen);
  return {
    name: what.name,
    base: what.recipe,
    cells: planned,
    seeds: chosen,
    jobs,
    studies: what.studies ?? [],
  };
}

export interface RunSweepOptions {
  /** The sweep's folder. */
  readonly dir: string;
  /** Start of a process's command line, before `run`. */
  readonly command: readonly string[];
  /** Processes at a time. Default 1. */
  readonly parallel?: number;
  readonly signal?: AbortSignal;
  /** Called after every change. */
  readonly onChange?: (jobs: readonly JobEntry[]) => void;
}

/**
 * Runs the missing runs of a sweep's folder. A failed run does not stop the others; an interrupted one resumes from
 * its last checkpoint. Throws HONE_ERR_USAGE if another sweep has the folder, HONE_ERR_IO.
 */
export async function runSweep(plan: SweepPlan, options: RunSweepOptions): Promise<readonly JobEntry[]> {
  const { dir, parallel = 1, signal = new AbortController().signal } = options;
  mkdirSync(dir, { recursive: true });
  const lock = await lockFolder(dir, "a sweep");
  try {
    const cells = plan.cells.map(({ name, settings, id }) => ({ name, settings, id }));
    const head = { name: plan.name, seeds: plan.seeds, parallel, cells };
    const states = new JobStates(dir, head, plan.jobs, options.onChange);
    const line = new JobLine(plan.jobs, states);
    const work = async (stop: AbortSignal) => {
      for (let job = await line.next(stop); job !== undefined; job = await line.next(stop))
        await runJob(job, states, { ...options, signal: stop, parallel });
    };
    await atOnce(parallel, signal, (stop, fail) => line.told(work(stop).catch(fail)));
    return states.jobs;
  } finally {
    lock[Symbol.dispose]();
  }
}

/** If one fails, stops the others and waits for them before rejecting with the first error. */
async function atOnce(
  count: number,
  signal: AbortSignal,
  work: (stop: AbortSignal, fail: (error: unknown) => void) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  await Promise.all(Array.from({ length: count }, () => work(stop, (error) => failed.abort(error))));
  if (failed.signal.aborted) throw failed.signal.reason;
}

/** Hands out jobs in order, each when the warm start that it needs is done. */
class JobLine {
  readonly #waiting: Job[];
  readonly #states: JobStates;
  /** Notified when a job ends, but not by workers that look for one: two would wake each other forever. */
  readonly #ended = new Wake();

  constructor(jobs: readonly Job[], states: JobStates) {
    this.#states = states;
    const needed = new Set(
      jobs
        .filter(({ id }) => states.stateOf(id) !== "done")
        .flatMap(({ needs }) => (needs === undefined ? [] : [needs])),
    );
    for (const { id, cell } of jobs) {
      // a warm start that no job needs any more is not repeated
      if (cell === undefined && !needed.has(id)) states.set(id, { state: "done" });
    }
    this.#waiting = jobs.filter(({ id }) => states.stateOf(id) !== "done");
  }

  /** Called by a worker that has finished its previous job. */
  async next(signal: AbortSignal): Promise<Job | undefined> {
    this.#ended.ring();
    for (;;) {
      if (signal.aborted || this.#waiting.length === 0) return undefined;
      this.#giveUp();
      const at = this.#waiting.findIndex(
        ({ needs }) => needs === undefined || this.#states.stateOf(needs) === "done",
      );
      if (at >= 0) return this.#waiting.splice(at, 1)[0]!;
      if (this.#waiting.length > 0) await this.#ended.next;
    }
  }

  /** Marks runs whose warm start failed as failed. */
  #giveUp(): void {
    for (const { id, needs } of this.#waiting.slice()) {
      if (needs === undefined || this.#states.stateOf(needs) !== "failed") continue;
      this.#waiting.splice(
        this.#waiting.findIndex((job) => job.id === id),
        1,
      );
      this.#states.set(id, { state: "failed", error: `its warm start failed: ${needs}.log` });
    }
  }

  /** Wakes waiting workers when this work ends, also if it fails. */
  async told(work: Promise<void>): Promise<void> {
    try {
      await work;
    } finally {
      this.#ended.ring();
    }
  }
}

async function runJob(
  job: Job,
  states: JobStates,
  {
    dir,
    command,
    parallel,
    signal,
  }: RunSweepOptions & { readonly signal: AbortSignal; readonly parallel: number },
): Promise<void> {
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  states.set(job.id, { state: "running" });
  const own = process.env["HONE_THREADS"] === undefined && parallel > 1;
  const threads = own ? Math.max(1, Math.floor(availableParallelism() / parallel)) : undefined;
  try {
    const ending = await runProcess(job, () => isDone(join(dir, job.id)), { dir, command, threads, signal });
    states.set(job.id, { ...ending, seconds: seconds() });
  } catch (error) {
    states.set(job.id, { state: "failed", error: (error as Error).message, seconds: seconds() });
  }
}
