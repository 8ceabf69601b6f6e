import { closeSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { HoneError } from "../errors.ts";
import { Column, Lines, Places } from "./column.ts";
import { hashesOf } from "./content.ts";
import { ProblemStore } from "./problem-store.ts";
import type { RawRow } from "./raw-row.ts";
import { asked } from "./row-judge.ts";
import type { RowOutcome } from "./row-reader.ts";
import type { StoredRow } from "./used-row.ts";

const pair = new Uint32Array(2);

export type Body = ReturnType<typeof asked>;

/**
 * The used rows: those of a large JSONL file stay on disk, at 16 bytes of memory each, and are read on demand; others
 * are kept in memory.
 */
export class RowStore {
  readonly #read: (raw: RawRow) => RowOutcome;
  readonly #memory = new ProblemStore();
  /** Byte offset of a row on disk; for a row in memory, -1 - its index there. */
  readonly #starts = new Places();
  readonly #bytes = new Column();
  readonly #numbers = new Lines();
  /** A hash of each row's content, which the filter also uses to find duplicates. */
  readonly #hashes: Pick<Column, "at">;
  /** Checksum of a row's text on disk: its answer may change even if its content hash does not. */
  readonly #checksums = new Column();
  /** The files in order, each with the index of its first row in this store. */
  readonly #files: { readonly file: string; readonly first: number }[] = [];

  /**
   * @param read the function that read the rows. @param hashes of the content of each row that is added, by
   * its number
   */
  constructor(read: (raw: RawRow) => RowOutcome, hashes: Pick<Column, "at">) {
    this.#read = read;
    this.#hashes = hashes;
  }

  get length(): number {
    return this.#starts.length;
  }

  /** Bytes held outside the heap. */
  get bytes(): number {
    return this.#memory.bytes + this.length * 16; // counts the hashes too
  }

  add(row: StoredRow): void {
    const { file, number, span } = row;
    if (this.#files.at(-1)?.file !== file) this.#files.push({ file, first: this.length });
    const isOnDisk = span !== undefined;
    if (!isOnDisk) this.#memory.add(row.body!());
    this.#starts.push(isOnDisk ? span.start : -this.#memory.length);
    this.#bytes.push(span?.bytes ?? 0);
    this.#numbers.push(number);
    this.#checksums.push(isOnDisk ? row.checksum() : 0);
  }

  /** File and line of a row: "data/mine.jsonl:17". */
  placeOf(row: number): string {
    return `${this.#fileOf(row)}:${this.#numbers.at(row)}`;
  }

  /**
   * A fresh copy of a row's fields. Throws HONE_ERR_DATA naming file and line if the file no longer has the
   * row.
   */
  at(row: number): Body {
    const start = this.#starts.at(row);
    if (start < 0) return this.#memory.at(-1 - start) as Body;
    const text = textAt(this.#fileOf(row), start, this.#bytes.at(row));
    if (text === undefined || crc32(text) !== this.#checksums.at(row)) throw this.#changed(row);
    const outcome = this.#again(row, text);
    if ("question" in outcome) hashesOf(outcome.content, pair);
    if ("question" in outcome && pair[0] === this.#hashes.at(row)) return asked(outcome);
    throw this.#otherwise(row);
  }

  #again(row: number, text: string): RowOutcome {
    const file = this.#fileOf(row);
    return this.#read({ file, row: this.#numbers.at(row), value: JSON.parse(text) as unknown, text });
  }

  #changed(row: number): HoneError {
    return new HoneError(
      "HONE_ERR_DATA",
      `${this.placeOf(row)}: its row has changed since the run read it at its start`,
      {
        hint: "The file was changed or removed while the run used it. Put it back and resume the run; copy a file before you change it.",
      },
    );
  }

  #otherwise(row: number): HoneError {
    return new HoneError(
      "HONE_ERR_DATA",
      `${this.placeOf(row)}: the source's map gives another question for this row now than at the start`,
      { hint: "A map must depend on its row alone: not on random numbers, the time or the number of rows." },
    );
  }

  #fileOf(row: number): string {
    return this.#files.findLast(({ first }) => first <= row)!.file;
  }
}

/** Undefined if the file cannot be read at that position. */
function textAt(file: string, start: number, bytes: number): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, "r");
    const text = Buffer.allocUnsafe(bytes);
    return text.toString("utf8", 0, readSync(fd, text, 0, bytes, start));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
