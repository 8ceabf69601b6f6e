import { existsSync } from "node:fs";
import { join } from "node:path";
import { clearLeft, RUN_FILES, readJson, writeWhole } from "../metrics/index.ts";
import type { Cell } from "./cells.ts";
import type { Job } from "./plan.ts";

export const SWEEP_FILE = "sweep.json";

/** "stopped": interrupted, and taken up by the next session. */
export type JobState = "waiting" | "running" | "done" | "failed" | "stopped";

/** A job's entry in sweep.json. Paths are relative to the sweep's folder. */
export interface JobEntry {
  readonly id: string;
  readonly cell?: string | undefined;
  readonly seed: number;
  readonly state: JobState;
  readonly log: string;
  /** Wall seconds in this session. */
  readonly seconds?: number | undefined;
  /** The last message of a failed job. */
  readonly error?: string | undefined;
}

export interface SweepFile {
  readonly schema: 1;
  readonly name: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly seeds: readonly number[];
  readonly parallel: number;
  readonly cells: readonly (Cell & { readonly id: string })[];
  readonly jobs: readonly JobEntry[];
}

/**
 * The state of every job, on disk after each change in one rename: a reader finds a whole file, even after a
 * kill.
 */
export class JobStates {
  readonly #path: string;
  readonly #head: Omit<SweepFile, "updatedAt" | "jobs">;
  readonly #jobs: Map<string, JobEntry>;
  readonly #told: (jobs: readonly JobEntry[]) => void;

  constructor(
    dir: string,
    head: Omit<SweepFile, "schema" | "startedAt" | "updatedAt" | "jobs">,
    jobs: readonly Job[],
    told: (jobs: readonly JobEntry[]) => void = () => {},
  ) {
    this.#path = join(dir, SWEEP_FILE);
    this.#head = { schema: 1, startedAt: new Date().toISOString(), ...head };
    this.#told = told;
    this.#jobs = new Map(
      jobs.map(({ id, cell, seed }) => {
        const state = isDone(join(dir, id)) ? "done" : "waiting";
        return [id, { id, cell, seed, state, log: `${id}.log` }];
      }),
    );
    this.#write();
    clearLeft(dir);
  }

  get jobs(): readonly JobEntry[] {
    return [...this.#jobs.values()];
  }

  stateOf(id: string): JobState | undefined {
    return this.#jobs.get(id)?.state;
  }

  set(id: string, change: Pick<JobEntry, "state" | "seconds" | "error">): void {
    const { cell, seed, log } = this.#jobs.get(id)!;
    this.#jobs.set(id, { id, cell, seed, log, ...change });
    this.#write();
    this.#told(this.jobs);
  }

  #write(): void {
    const file: SweepFile = { ...this.#head, updatedAt: new Date().toISOString(), jobs: this.jobs };
    writeWhole(this.#path, `${JSON.stringify(file, null, 2)}\n`);
  }
}

/** True if a run folder has a run whose training and evaluation are complete. */
export function isDone(dir: string): boolean {
  const path = join(dir, RUN_FILES.summary);
  if (!existsSync(path)) return false;
  try {
    const summary = readJson(path);
    return typeof summary === "object" && summary !== null && "state" in summary && summary.state === "done";
  } catch {
    return false; // a torn or damaged file: the run is resumed, and writes the file again
  }
}
