import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { HoneError } from "../errors.ts";
import type { JournalLine } from "../orchestration/index.ts";
import { objectOfLine } from "../shared/files/text-lines.ts";
import type { Place } from "./builder.ts";

const NEWLINE = 0x0a;
/** Bytes that are read and parsed in one turn of the event loop: some ten milliseconds of work. */
const BLOCK_BYTES = 1 << 20;
const TAIL_BYTES = 4096;
const HASH_BYTES = 16;

export interface PlacedLine<Line = JournalLine> extends Place {
  readonly line: Line;
}

/** A journal of a run folder, read by byte ranges while the run may be writing it. */
export class Journal<Line extends object = JournalLine> implements AsyncDisposable {
  readonly path: string;
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** Throws HONE_ERR_IO. */
  static async open<Line extends object = JournalLine>(path: string): Promise<Journal<Line>> {
    try {
      return new Journal<Line>(path, await open(path, "r"));
    } catch (cause) {
      throw new HoneError("HONE_ERR_IO", `cannot read ${path}: ${(cause as Error).message}`, {
        cause,
        hint: "Name the folder of a run. A run keeps its completions if verification.journal is true, the default.",
      });
    }
  }

  async size(): Promise<number> {
    return (await this.#file.stat()).size;
  }

  /**
   * A 16-byte hash of the last 4096 bytes before `end`, which identifies the journal; undefined if the file
   * is shorter.
   */
  async tail(end: number): Promise<Buffer | undefined> {
    const start = Math.max(0, end - TAIL_BYTES);
    const bytes = await this.read({ at: start, size: end - start });
    if (bytes.length < end - start) return undefined;
    return createHash("sha256").update(bytes).digest().subarray(0, HASH_BYTES);
  }

  /** Returns fewer bytes at the end of the file. */
  async read({ at, size }: Place): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(size);
    let got = 0;
    while (got < size) {
      const { bytesRead } = await this.#file.read(bytes, got, size - got, at + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    return bytes.subarray(0, got);
  }

  /** The line at a byte range. Throws HONE_ERR_FORMAT if there is none, because the run was restarted. */
  async line({ at, size }: Place): Promise<Line> {
    const line = lineOf<Line>((await this.read({ at, size })).toString("utf8"));
    if (line === undefined) throw this.damaged(at, "the line is no longer there");
    return line;
  }

  /**
   * Yields complete lines from a byte offset on, one block at a time. Throws HONE_ERR_FORMAT naming the offset of a
   * malformed line.
   */
  async *lines(from: number): AsyncGenerator<PlacedLine<Line>[], void, undefined> {
    let at = from;
    let rest: Buffer[] = [];
    for (let next = from; ; ) {
      const block = await this.read({ at: next, size: BLOCK_BYTES });
      if (block.length === 0) return;
      next += block.length;
      const end = block.lastIndexOf(NEWLINE) + 1;
      rest.push(block.subarray(0, end));
      if (end > 0) {
        const bytes = Buffer.concat(rest);
        yield this.#linesOf(bytes, at);
        at += bytes.length;
        rest = [];
      }
      rest.push(block.subarray(end));
    }
  }

  damaged(at: number, what: string): HoneError {
    return new HoneError("HONE_ERR_FORMAT", `${this.path}, byte ${at}: ${what}`, {
      details: { path: this.path, at },
      hint: "The journal was altered, or is being written anew: try again; otherwise restore it.",
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  #linesOf(bytes: Buffer, start: number): PlacedLine<Line>[] {
    const lines: PlacedLine<Line>[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(NEWLINE, at);
      const text = bytes.toString("utf8", at, end);
      const line = lineOf<Line>(text);
      if (line === undefined) {
        throw this.damaged(
          start + at,
          `not a line of a verdict journal: ${JSON.stringify(text.slice(0, 80))}`,
        );
      }
      lines.push({ line, at: start + at, size: end - at });
      at = end + 1;
    }
    return lines;
  }
}

/** Parses a line; its fields determine its kind. */
const lineOf = <Line extends object>(text: string): Line | undefined =>
  objectOfLine(text) as Line | undefined;
