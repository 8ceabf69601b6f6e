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
/** Flags of open() that create the file or truncate an existing one. */
const ANEW = APPENDING | constants.O_TRUNC;
const BLOCK_BYTES = 1 << 16;

/**
 * An append-only file of lines. Appended lines survive the process; a killed process leaves at most one torn line,
 * which the next process to open the file cuts off.
 */
export class AppendFile {
  readonly path: string;
  #fd: number | undefined;
  /** True if a write failed part-way (disk full) and left a partial line at the end. */
  #torn = false;

  /** Creates file and folder if needed; keeps existing lines unless `fresh`. Throws HONE_ERR_IO naming the file. */
  constructor(path: string, { fresh = false } = {}) {
    this.path = path;
    this.#fd = fileWork(path, () => {
      mkdirSync(dirname(path), { recursive: true });
      // "w+" would continue at the old offset after a truncation, and leave zeros before it
      const fd = openSync(path, fresh ? ANEW : APPENDING);
      cutTornLine(fd);
      return fd;
    });
  }

  get isOpen(): boolean {
    return this.#fd !== undefined;
  }

  /** Current size in bytes. The file must be open. */
  get size(): number {
    return fstatSync(this.#fd!).size;
  }

  /**
   * @param lines complete lines. Throws HONE_ERR_IO naming the file if the disk is full or the file was
   * deleted; HONE_ERR_STATE after close.
   */
  append(lines: string): void {
    const fd = this.#fd;
    if (fd === undefined) throw new HoneError("HONE_ERR_STATE", `${this.path}: write after close`);
    const bytes = Buffer.from(lines);
    fileWork(this.path, () => {
      if (fstatSync(fd).nlink === 0) throw new Error("it was deleted during the run");
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

/** One line of a file without its end, and the byte range [start, end) of the line with its end. */
export interface Line {
  readonly text: string;
  readonly bytes: { readonly start: number; readonly end: number };
}

/**
 * The current lines of a file, in order, reading one block at a time; leaves out a torn last line. Yields
 * nothing for a path that is not a regular file: a device may never end. Throws HONE_ERR_IO.
 */
export function* wholeLines(path: string): Generator<string, void, undefined> {
  for (const { text } of linesOf(path)) yield text;
}

/** Like wholeLines, with byte ranges. @param within byte range to read, which begins with a line */
export function* linesOf(
  path: string,
  within: Line["bytes"] = { start: 0, end: Number.POSITIVE_INFINITY },
): Generator<Line, void, undefined> {
  const fd = fileWork(path, () => openSync(path, "r"));
  try {
    const size = Math.min(fstatSync(fd).size, within.end);
    // reuses one block for the whole file and makes each line its own string: otherwise both would survive a young
    // collection
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

/** The complete lines of a block; returns where the last of them ends. @param at offset of the block in the file */
function* linesIn(block: Buffer, at: number): Generator<Line, number, undefined> {
  let start = 0;
  for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
    yield { text: block.toString("utf8", start, end), bytes: { start: at + start, end: at + end + 1 } };
    start = end + 1;
  }
  return start;
}

/** Truncates a file, open for reading and writing, after its last complete line. */
function cutTornLine(fd: number): void {
  const { size } = fstatSync(fd);
  const whole = endOfLines(fd, size);
  if (whole < size) ftruncateSync(fd, whole);
}

/** Number of bytes up to and including the last newline. */
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
