import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { HoneError } from "../errors.ts";
import { APPENDING } from "../shared/files/plain-file.ts";
import { fileWork } from "./sink.ts";

const NEWLINE = 0x0a;
/** Of an empty file. */
const ANEW = APPENDING | constants.O_TRUNC;
const BLOCK_BYTES = 1 << 16;

/**
 * A file of lines that only grows. What is appended survives the process; a killed process leaves at most one torn
 * line, which the next one to open the file cuts off.
 */
export class AppendFile {
  readonly path: string;
  #fd: number | undefined;
  /** A write failed half way (disk full), and a part of its line is at the end. */
  #torn = false;

  /** Makes file and folder if needed; keeps what is there unless `fresh`. Throws HONE_ERR_IO naming the file. */
  constructor(path: string, { fresh = false } = {}) {
    this.path = path;
    this.#fd = fileWork(path, () => {
      mkdirSync(dirname(path), { recursive: true });
      // "w+" would go on behind a part of a line that was cut off, and leave zeros there
      const fd = openSync(path, fresh ? ANEW : APPENDING);
      cutTornLine(fd);
      return fd;
    });
  }

  get isOpen(): boolean {
    return this.#fd !== undefined;
  }

  /** Bytes it has now. Trusts that it is open. */
  get size(): number {
    return fstatSync(this.#fd!).size;
  }

  /** @param lines whole ones. Throws HONE_ERR_IO naming the file: disk full, or deleted under way; HONE_ERR_STATE after close. */
  append(lines: string): void {
    const fd = this.#fd;
    if (fd === undefined) throw new HoneError("HONE_ERR_STATE", `${this.path}: a line after close`);
    const bytes = Buffer.from(lines);
    fileWork(this.path, () => {
      if (fstatSync(fd).nlink === 0) throw new Error("it was deleted while the run went on");
      if (this.#torn) cutTornLine(fd);
      this.#torn = true;
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
      this.#torn = false;
    });
  }

  /** Idempotent. */
  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** One line of a file without its end, and the bytes [start, end) that it takes there with it. */
export interface Line {
  readonly text: string;
  readonly bytes: { readonly start: number; readonly end: number };
}

/**
 * The lines that a file has now, in order, one block of it in memory at a time; a torn last line is left out. A path
 * that is no regular file has none: a device may never end. Throws HONE_ERR_IO.
 */
export function* wholeLines(path: string): Generator<string, void, undefined> {
  for (const { text } of linesOf(path)) yield text;
}

/** As wholeLines, with their places. @param within bytes of the file, beginning with a line. */
export function* linesOf(
  path: string,
  within: Line["bytes"] = { start: 0, end: Number.POSITIVE_INFINITY },
): Generator<Line, void, undefined> {
  const fd = fileWork(path, () => openSync(path, "r"));
  try {
    const size = Math.min(fstatSync(fd).size, within.end);
    // one block for the whole file, and each line a string of its own: both would otherwise outlive a young collection
    let block = Buffer.allocUnsafe(BLOCK_BYTES);
    let kept = 0;
    for (let at = within.start; at < size; ) {
      if (kept === block.length) block = Buffer.concat([block], 2 * kept);
      const wanted = Math.min(size - at, block.length - kept);
      const n = fileWork(path, () => readSync(fd, block, kept, wanted, at));
      if (n === 0) return;
      const ends = yield* linesIn(block.subarray(0, kept + n), at - kept);
      at += n;
      block.copyWithin(0, ends, kept + n);
      kept += n - ends;
    }
  } finally {
    closeSync(fd);
  }
}

/** The whole lines of a block; where the last of them ends in it. @param at where the block begins in the file. */
function* linesIn(block: Buffer, at: number): Generator<Line, number, undefined> {
  let start = 0;
  for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
    yield { text: block.toString("utf8", start, end), bytes: { start: at + start, end: at + end + 1 } };
    start = end + 1;
  }
  return start;
}

/** Leaves whole lines only in a file open for reading and writing. */
function cutTornLine(fd: number): void {
  const { size } = fstatSync(fd);
  const whole = endOfLines(fd, size);
  if (whole < size) ftruncateSync(fd, whole);
}

/** Bytes up to and with the last newline. */
function endOfLines(fd: number, size: number): number {
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
