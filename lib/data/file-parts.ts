import { closeSync, constants, openSync, readSync, statSync } from "node:fs";
import type { DataFile } from "./files.ts";
import { NEWLINE } from "./line-rows.ts";
import { isLargeOfLines, LONGEST_LINE_BYTES } from "./rows.ts";

/** A byte range [from, to) of a JSONL file: the lines that begin in it; the last one may end after it. */
export interface FilePart {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** Smallest size of files that are read in parts, and the size of a part. */
export interface PartSizes {
  /** Smaller files are read as a whole. */
  readonly fileBytes: number;
  readonly partBytes: number;
}

/** The parts of a file; empty if it is small or does not support random access. */
export function partsOf(file: DataFile, { fileBytes, partBytes }: PartSizes): FilePart[] {
  const { path } = file;
  if (!isLargeOfLines(file)) return [];
  const stats = statSync(path);
  if (!stats.isFile() || stats.size < fileBytes) return [];
  return Array.from({ length: Math.ceil(stats.size / partBytes) }, (_, i) => ({
    path,
    from: i * partBytes,
    to: Math.min((i + 1) * partBytes, stats.size),
  }));
}

/** Bytes read after a part; its last line usually ends within them. */
const MORE_BYTES = 1 << 16;

/** Thrown if the last line of a part exceeds the size limit of a line. */
export class LongLine extends Error {
  /** Number of lines in the part before the long one. */
  readonly lines: number;

  constructor(lines: number) {
    super(`holds more than ${LONGEST_LINE_BYTES} bytes without an end`);
    this.lines = lines;
  }
}

/** The bytes of complete lines of a file, and the position in the file at which they begin. */
export interface Lines {
  readonly bytes: Buffer;
  readonly start: number;
}

/** Reads parts into one reused buffer: otherwise a large file would leave all of its bytes to the garbage collector. */
export class PartMemory {
  #memory = Buffer.alloc(0);

  /**
   * The lines of a part; they are valid until the next part is read. Throws LongLine, and errors of reading.
   */
  linesOf({ path, from, to }: FilePart): Lines {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const before = Math.max(0, from - 1); // a line begins where the preceding byte is a line end
      const asked = to - before + MORE_BYTES;
      if (this.#memory.length < asked) this.#memory = Buffer.allocUnsafeSlow(asked);
      const block = read(fd, before, this.#memory.subarray(0, asked));
      const first = from === 0 ? 0 : block.indexOf(NEWLINE) + 1;
      if (from > 0 && (first === 0 || before + first >= to))
        return { bytes: block.subarray(0, 0), start: to };
      const end = block.indexOf(NEWLINE, to - 1 - before) + 1;
      const isWhole = end > 0 || block.length < asked;
      const bytes = isWhole ? block.subarray(first, end || undefined) : longer(fd, before, block, first);
      return { bytes, start: before + first };
    } finally {
      closeSync(fd);
    }
  }
}

/** Bytes of the file from `start` on: fewer than requested at its end. */
function read(fd: number, start: number, memory: Buffer): Buffer {
  let filled = 0;
  for (let got = -1; got !== 0 && filled < memory.length; filled += got)
    got = readSync(fd, memory, filled, memory.length - filled, start + filled);
  return memory.subarray(0, filled);
}

/** The lines of a block from `first` on, including the rest of the last line, which ends after the block. */
function longer(fd: number, start: number, block: Buffer, first: number): Buffer {
  const pieces = [block.subarray(first)];
  for (let bytes = block.length; bytes < LONGEST_LINE_BYTES; ) {
    const piece = read(fd, start + bytes, Buffer.allocUnsafeSlow(MORE_BYTES));
    const end = piece.indexOf(NEWLINE) + 1;
    pieces.push(end > 0 ? piece.subarray(0, end) : piece);
    if (end > 0 || piece.length < MORE_BYTES) return Buffer.concat(pieces);
    bytes += piece.length;
  }
  throw new LongLine(endsIn(block.subarray(first)));
}

function endsIn(bytes: Buffer): number {
  let ends = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends += 1;
  return ends;
}
