import { HoneError } from "../errors.ts";
import type { RolloutGroup, StepRecord } from "../records.ts";

/** Data of a step's record, for sinks that show more than numbers. */
export interface StepDetails {
  /** Groups that ended with the step, kept and dropped. */
  readonly groups: readonly RolloutGroup[];
  /** When the step ended, milliseconds since 1970. */
  readonly endedAt: number;
  /** Offset from the run's clock to milliseconds since 1970. */
  readonly epochMs: number;
}

/** Receiver of step records. After `write` returns, the record survives a crash of the process. */
export interface Sink {
  readonly name: string;
  /** Called on the run's thread; its exceptions end the run. */
  write(record: StepRecord, details: StepDetails): void;
  /** Called before `close` when training is over. */
  ended?(state: "finished" | "stopped" | "failed"): void;
  /** Idempotent. */
  close(): void | Promise<void>;
}

const HINTS: Readonly<Record<string, string>> = {
  ENOTDIR: "A part of that path is a file where a folder belongs: move it away, or name another folder.",
  EISDIR: "That is a folder where a file belongs: move it away, or name another one.",
  EMFILE: "This process may open no more files: raise the limit (ulimit -n 1024).",
  ELOOP: "It is a symbolic link, and a run folder's files are written in the folder alone: remove the link.",
  ENOSPC: "The disk is full: free space, then continue from the last checkpoint (--resume).",
};

/** Runs file work; what it throws becomes HONE_ERR_IO naming the path. */
export function fileWork<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw fileFailure(path, cause);
  }
}

/** HONE_ERR_IO naming the path. */
export function fileFailure(path: string, cause: unknown): HoneError {
  const hint = HINTS[(cause as NodeJS.ErrnoException).code ?? ""];
  return new HoneError("HONE_ERR_IO", `${path}: ${(cause as Error).message}`, {
    cause,
    details: { path },
    hint:
      hint ?? "Check that the path exists, that you may read and write it, and that the disk is not full.",
  });
}
