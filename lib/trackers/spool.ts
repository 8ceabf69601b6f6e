import { existsSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { AppendFile, fileWork, linesOf, readJson, writeWhole } from "../metrics/index.ts";
import type { Tracked } from "./tracker.ts";

/** A completely sent spool is truncated if it is longer than this. */
const WORTH_EMPTYING_BYTES = 1 << 20;
const MOST_BYTES_AT_ONCE = 1 << 20;

/** A tracker's progress, over all sessions. */
export interface Delivered {
  /** Entries that the tracker accepted. */
  readonly sent: number;
  /** Number of entries that the tracker refused permanently; they are kept in `<tracker>.refused.jsonl`. */
  readonly refused: number;
  /** Attempts that failed. */
  readonly failures: number;
}

interface Cursor extends Delivered {
  /** Offset of the first entry that is neither sent nor refused. */
  readonly offset: number;
  readonly memory?: unknown;
}

/** Entries read for sending, and the end offset of each in the spool. */
export interface SpoolBatch {
  readonly entries: readonly Tracked[];
  /** Offset of the first byte after each entry. */
  readonly ends: readonly number[];
}

/**
 * Entries waiting for one tracker: a file of lines in the run folder, and a second file with the tracker's progress.
 * Keeps none in memory. Appended lines survive the process; a kill between a response and its recording sends one
 * batch twice. Throws HONE_ERR_IO, HONE_ERR_FORMAT.
 */
export class Spool {
  readonly path: string;
  readonly #file: AppendFile;
  readonly #cursorPath: string;
  readonly #refusedPath: string;
  #cursor: Cursor = { offset: 0, sent: 0, refused: 0, failures: 0 };
  #waiting = 0;

  constructor(folder: string, name: string) {
    this.path = join(folder, `${name}.jsonl`);
    this.#cursorPath = join(folder, `${name}.json`);
    this.#refusedPath = join(folder, `${name}.refused.jsonl`);
    this.#file = new AppendFile(this.path);
    if (existsSync(this.#cursorPath)) this.#cursor = readJson(this.#cursorPath) as Cursor;
    // the process was killed after it emptied the file and before it saved the cursor
    if (this.#cursor.offset > this.#file.size) this.#begin();
    for (const _ of this.#linesLeft()) this.#waiting += 1;
  }

  /** Entries that are not sent yet. */
  get waiting(): number {
    return this.#waiting;
  }

  get delivered(): Delivered {
    const { sent, refused, failures } = this.#cursor;
    return { sent, refused, failures };
  }

  get memory(): unknown {
    return this.#cursor.memory;
  }

  append(entry: Tracked): void {
    this.#file.append(`${JSON.stringify(entry)}\n`);
    this.#waiting += 1;
  }

  /** The oldest waiting entries, at most `most` and about a MiB, but at least one if there is one. */
  next(most: number): SpoolBatch {
    const entries: Tracked[] = [];
    const ends: number[] = [];
    if (this.#waiting === 0) return { entries, ends };
    for (const { text, bytes } of this.#linesLeft()) {
      entries.push(JSON.parse(text) as Tracked);
      ends.push(bytes.end);
      if (entries.length === most || bytes.end - this.#cursor.offset > MOST_BYTES_AT_ONCE) break;
    }
    return { entries, ends };
  }

  /** @param memory of the tracker; undefined keeps its previous one */
  taken({ entries, ends }: SpoolBatch, memory: unknown): void {
    this.#pass(ends, { sent: this.#cursor.sent + entries.length, ...(memory !== undefined && { memory }) });
  }

  /** Sets permanently refused entries aside. */
  refused({ entries, ends }: SpoolBatch, why: string): void {
    const aside = new AppendFile(this.#refusedPath);
    try {
      aside.append(entries.map((entry) => `${JSON.stringify({ why, entry })}\n`).join(""));
    } finally {
      aside.close();
    }
    this.#pass(ends, { refused: this.#cursor.refused + entries.length });
  }

  failed(): void {
    this.#cursor = { ...this.#cursor, failures: this.#cursor.failures + 1 };
  }

  close(): void {
    if (this.#file.isOpen) this.#save();
    this.#file.close();
  }

  #pass(ends: readonly number[], change: Partial<Cursor>): void {
    this.#waiting -= ends.length;
    this.#cursor = { ...this.#cursor, ...change, offset: ends.at(-1)! };
    if (this.#waiting === 0 && this.#cursor.offset > WORTH_EMPTYING_BYTES) {
      fileWork(this.path, () => truncateSync(this.path, 0)); // if the process is killed before #save, the next constructor repairs the spool
      this.#cursor = { ...this.#cursor, offset: 0 };
    }
    this.#save();
  }

  /**
   * Resets the offset before anything is appended: once the file is longer again, the old offset would skip
   * entries.
   */
  #begin(): void {
    this.#cursor = { ...this.#cursor, offset: 0 };
    this.#save();
  }

  #save(): void {
    writeWhole(this.#cursorPath, `${JSON.stringify(this.#cursor)}\n`);
  }

  #linesLeft() {
    return linesOf(this.path, { start: this.#cursor.offset, end: Number.POSITIVE_INFINITY });
  }
}
