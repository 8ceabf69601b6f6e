import type { JobEnd, VerificationJob } from "./verification-job.ts";
import { abandoned, WorkerGroup } from "./worker-group.ts";

/** Processes that judge verifier jobs, on this machine or others. */
export interface JobPlace {
  /** Number of jobs that run at the same time; grows when hosts join. */
  readonly count: number;
  /**
   * Rejects with HONE_ERR_STATE once the place closes. @param heapMb heap limit of the process that runs the
   * job
   */
  run(heapMb: number, job: VerificationJob): Promise<JobEnd>;
  /** Ids of the running processes that this process has started. */
  pids(): number[];
  /** Running jobs end as lost, or reject. Idempotent. */
  close(): Promise<void>;
}

/** Processes of this machine: as many as `count` for each limit of the heap and environment, started when first needed. */
export class WorkerGroups implements JobPlace {
  readonly count: number;
  readonly #groups = new Map<string, WorkerGroup>();
  #closed = false;

  constructor(count: number) {
    this.count = count;
  }

  async run(heapMb: number, job: VerificationJob): Promise<JobEnd> {
    if (this.#closed) throw abandoned();
    const { variables = [], python } = job;
    const count = python?.processes ?? this.count;
    const key = JSON.stringify([heapMb, variables, python?.processes]);
    const group = this.#groups.get(key) ?? new WorkerGroup(count, { heapMb, variables });
    this.#groups.set(key, group);
    return group.judge(job);
  }

  pids(): number[] {
    return [...this.#groups.values()].flatMap((group) => group.pids);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#groups.values()].map((group) => group.close()));
  }
}
