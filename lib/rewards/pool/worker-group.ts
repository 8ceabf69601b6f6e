import { pathToFileURL } from "node:url";
import { Piscina } from "piscina";
import { HoneError } from "../../errors.ts";
import { ownModule } from "../../own-module.ts";
import { ProcessTable } from "./process-table.ts";
import type { JobEnd, VerificationJob } from "./verification-job.ts";
import type { DispatcherOptions } from "./verifier-dispatcher.ts";

/** Processes per thread that gives them jobs. */
const PROCESSES_PER_THREAD = 8;

/** Settings that all processes of a group share. */
export type ProcessNeeds = Pick<DispatcherOptions, "heapMb" | "variables">;

/** Processes with one heap limit, and the threads that dispatch jobs to them. */
export class WorkerGroup {
  readonly #processes: ProcessTable;
  readonly #threads: Piscina<VerificationJob, JobEnd>;
  #closing: Promise<void> | undefined;

  constructor(workers: number, { heapMb, variables }: ProcessNeeds) {
    const threads = Math.ceil(workers / PROCESSES_PER_THREAD);
    const main = ownModule("verifier-worker", import.meta.url);
    this.#processes = new ProcessTable(2 * workers); // room for an ending process and its successor
    const workerData: DispatcherOptions = { heapMb, variables, processes: this.#processes.buffer };
    this.#threads = new Piscina({
      filename: pathToFileURL(main.path).href,
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: Math.ceil(workers / threads),
      idleTimeout: Number.POSITIVE_INFINITY,
      atomics: "disabled", // an idle thread must handle events of its processes
      workerData,
      execArgv: [...main.execArgv],
    });
    // Without a listener an error of an idle thread would end the process.
    this.#threads.on("error", () => {});
  }

  /** Rejects with HONE_ERR_STATE once the group closes. */
  async judge(job: VerificationJob): Promise<JobEnd> {
    try {
      return await this.#threads.run(job);
    } catch (error) {
      if (this.#closing) throw abandoned();
      const cause = String(error); // a lost thread, or a reference that cannot be serialised
      return { kind: "lost", phase: "idle", member: undefined, elapsedMs: 0, cause };
    }
  }

  get pids(): number[] {
    return this.#processes.pids;
  }

  /** Ends the processes, then the threads, which have to wait for them. Running jobs end as lost. */
  close(): Promise<void> {
    this.#closing ??= this.#processes.close().then(() => this.#threads.destroy());
    return this.#closing;
  }
}

export const abandoned = () => new HoneError("HONE_ERR_STATE", "the verifier pool was abandoned");
