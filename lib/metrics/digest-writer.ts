import type { StepRecord } from "../records.ts";
import { AppendFile } from "./append-file.ts";
import { StretchSum, stretchOf } from "./stretch.ts";

/** Steps per line of the digest, which is then a sixteenth of the log: a report of 65,000 steps parses 4,000 lines. */
export const DIGEST_STEPS = 16;

/**
 * Writes a running summary of a log beside it: one line per 16 steps with each metric's mean. It only speeds up
 * reading: steps of a killed process without a summary line are read from the log.
 */
export class DigestWriter {
  readonly #file: AppendFile;
  #sum = new StretchSum();
  #last = 0;
  #start = 0;

  /** Throws HONE_ERR_IO naming the file. */
  constructor(path: string) {
    this.#file = new AppendFile(path);
  }

  /** @param start, end byte range of the record's line in the log. Throws HONE_ERR_IO. */
  add(record: StepRecord, start: number, end: number): void {
    if (this.#sum.steps > 0 && record.step <= this.#last) this.#sum = new StretchSum();
    if (this.#sum.steps === 0) this.#start = start;
    this.#sum.add(stretchOf(record));
    this.#last = record.step;
    if (this.#sum.steps < DIGEST_STEPS) return;
    const { first, step, steps, ...rest } = this.#sum.stretch;
    this.#file.append(
      `${JSON.stringify({ first, step, steps, start: this.#start, last: start, end, ...rest })}\n`,
    );
    this.#sum = new StretchSum();
  }

  close(): void {
    this.#file.close();
  }
}
