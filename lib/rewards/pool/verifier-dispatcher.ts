import { ProcessTable } from "./process-table.ts";
import type { JobEnd, VerificationJob } from "./verification-job.ts";
import { VerifierProcess } from "./verifier-process.ts";

export interface DispatcherOptions {
  /** Heap limit of one process. */
  readonly heapMb: number;
  /** Environment variables that the recipe names for its modules. */
  readonly variables: readonly string[];
  /** The buffer of the group's ProcessTable; closing the table ends the processes started here. */
  readonly processes: SharedArrayBuffer;
}

const CLOSED = {
  kind: "lost",
  phase: "idle",
  member: undefined,
  elapsedMs: 0,
  cause: "the pool is closed",
} as const;

/**
 * Gives each job to a free process, or to a new one; the caller limits the number of jobs. Verifiers' output goes to
 * stderr, because stdout may carry JSON.
 */
export function openDispatcher({
  heapMb,
  variables,
  processes: buffer,
}: DispatcherOptions): (job: VerificationJob) => Promise<JobEnd> {
  const processes = new ProcessTable(buffer);
  const free = new Set<VerifierProcess>();
  const print = (text: string) => void process.stderr.write(text);
  const start = () =>
    processes.add((leave) => {
      const onExit = () => {
        free.delete(started);
        leave();
      };
      const started: VerifierProcess = new VerifierProcess({ heapMb, variables, print, onExit });
      return started;
    });
  const judge = async (job: VerificationJob, isRetry: boolean): Promise<JobEnd> => {
    const [idle] = free;
    const chosen = idle ?? start();
    if (chosen === undefined) return CLOSED;
    free.delete(chosen);
    const end = await chosen.judge(job);
    if (end.kind === "done") free.add(chosen);
    // If a process ended before it began the job, the job is not at fault.
    return end.kind !== "done" && end.phase === "idle" && !isRetry ? judge(job, true) : end;
  };
  return (job) => judge(job, false);
}
