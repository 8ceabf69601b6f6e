import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { HoneError } from "../errors.ts";
import type { StepRecord } from "../records.ts";
import { fileWork, type Sink } from "./sink.ts";

const NEWLINE = 0x0a;

/**
 * Appends one JSON line a step with one write each, so that a killed process loses at most the line it was in.
 * Opening cuts off a torn last line. Throws HONE_ERR_IO naming the file (disk full, no permission).
 */
export class RunLog implements Sink {
  readonly name = "jsonl";
  readonly #path: string;
  #fd: number | undefined;
  /** A write failed half way (disk full), and its line still stands at the end. */
  #torn = false;

  constructor(path: string) {
    this.#path = path;
    this.#fd = fileWork(path, () => {
      mkdirSync(dirname(path), { recursive: true });
      const fd = openSync(path, "a+");
      cutTornLine(fd);
      return fd;
    });
  }

  write(record: StepRecord): void {
    const fd = this.#fd;
    if (fd === undefined) {
      throw new HoneError("HONE_ERR_STATE", `${this.#path}: write of step ${record.step} after close`);
    }
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    fileWork(this.#path, () => {
      if (this.#torn) cutTornLine(fd);
      this.#torn = true;
      for (let written = 0; written < line.length; ) written += writeSync(fd, line, written);
      this.#torn = false;
    });
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** Leaves whole lines only in a file open for reading and writing. */
export function cutTornLine(fd: number): void {
  const { size } = fstatSync(fd);
  const whole = wholeLines(fd, size);
  if (whole < size) ftruncateSync(fd, whole);
}

/** Bytes up to and with the last newline. */
function wholeLines(fd: number, size: number): number {
  let end = size;
  const block = Buffer.alloc(4096);
  while (end > 0) {
    const start = Math.max(0, end - block.length);
    const n = readSync(fd, block, 0, end - start, start);
    const at = block.subarray(0, n).lastIndexOf(NEWLINE);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}

/**
 * Steps of a run log in ascending order. A torn last line is left out. A step that does not follow the one before
 * it (a run resumed from an older checkpoint) replaces everything from that step on.
 * Throws HONE_ERR_IO if the file cannot be read, HONE_ERR_FORMAT naming the line if one in the middle is damaged.
 */
export function readRunLog(path: string): StepRecord[] {
  const text = fileWork(path, () => readFileSync(path, "utf8"));
  const lines = text.split("\n");
  lines.pop(); // empty after a whole last line, torn otherwise
  const records: StepRecord[] = [];
  lines.forEach((line, index) => {
    const record = parseLine(line, `${path}:${index + 1}`);
    while (records.length > 0 && records.at(-1)!.step >= record.step) records.pop();
    records.push(record);
  });
  return records;
}

function parseLine(line: string, where: string): StepRecord {
  try {
    const record: unknown = JSON.parse(line);
    if (isStepRecord(record)) return record;
  } catch {
    // falls through to the typed error
  }
  throw new HoneError("HONE_ERR_FORMAT", `${where}: not a step record: ${line.slice(0, 80)}`, {
    details: { where },
  });
}

function isStepRecord(value: unknown): value is StepRecord {
  return (
    typeof value === "object" &&
    value !== null &&
    "step" in value &&
    typeof value.step === "number" &&
    "metrics" in value &&
    typeof value.metrics === "object" &&
    value.metrics !== null
  );
}
