import { HoneError } from "../errors.ts";
import type { StepRecord } from "../records.ts";

/** Where step records go. `write` returns when the record would survive the end of the process. */
export interface Sink {
  readonly name: string;
  /** Throws HONE_ERR_IO. */
  write(record: StepRecord): void;
  /** Idempotent. */
  close(): void;
}

/** Runs file work; what it throws becomes HONE_ERR_IO naming the path. */
export function fileWork<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new HoneError("HONE_ERR_IO", `${path}: ${(cause as Error).message}`, {
      cause,
      details: { path },
      hint: "Check that the path exists, that you may read and write it, and that the disk is not full.",
    });
  }
}
