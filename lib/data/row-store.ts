import { closeSync, openSync, readSync } from "node:fs";
import { HoneError } from "../errors.ts";
import { Column } from "./column.ts";
import { normalized, splitHash } from "./content.ts";
import { ProblemStore } from "./problem-store.ts";
import type { RawRow } from "./raw-row.ts";
import { asked, type UsedRow } from "./row-filter.ts";
import type { RowOutcome } from "./row-reader.ts";

/** Rows of smaller files are kept in memory, where nothing can change them while a run asks them. Bytes into the file. */
const ON_DISK_FROM = 1 << 23;

export type Body = ReturnType<typeof asked>;

/**
 * The rows that are used: those of a large file of lines stay there, at 20 bytes each, and are read again when asked; others
 * are kept in memory.
 */
export class RowStore {
  readonly #read: (raw: RawRow) => RowOutcome;
  readonly #memory = new ProblemStore();
  /** Byte offset of a row on disk; of one in memory, -1 - its place there. */
  readonly #starts = new Column("double");
  readonly #bytes = new Column("uint32");
  readonly #numbers = new Column("uint32");
  readonly #hashes = new Column("uint32");
  /** The files in order, each with the number of its first row here. */
  readonly #files: { readonly file: string; readonly first: number }[] = [];

  /** @param read as the rows were read */
  constructor(read: (raw: RawRow) => RowOutcome) {
    this.#read = read;
  }

  get length(): number {
    return this.#starts.length;
  }

  /** Bytes held outside the heap. */
  get bytes(): number {
    return this.#memory.bytes + this.length * 20;
  }

  add({ raw, draft, hash }: UsedRow): void {
    if (this.#files.at(-1)?.file !== raw.file) this.#files.push({ file: raw.file, first: this.length });
    const { span } = raw;
    const isOnDisk = span !== undefined && span.start >= ON_DISK_FROM;
    if (!isOnDisk) this.#memory.add(asked(draft));
    this.#starts.push(isOnDisk ? span.start : -this.#memory.length);
    this.#bytes.push(span?.bytes ?? 0);
    this.#numbers.push(raw.row);
    this.#hashes.push(hash);
  }

  /** File and line of a row: "data/mine.jsonl:17". */
  placeOf(row: number): string {
    return `${this.#fileOf(row)}:${this.#numbers.at(row)}`;
  }

  /** A fresh copy. Throws HONE_ERR_DATA naming file and line where the file no longer has the row. */
  at(row: number): Body {
    const start = this.#starts.at(row);
    if (start < 0) return this.#memory.at(-1 - start) as Body;
    const outcome = this.#again(row, start);
    if (outcome !== undefined && "question" in outcome) {
      if (splitHash(normalized(outcome.content)) === this.#hashes.at(row)) return asked(outcome);
    }
    throw new HoneError(
      "HONE_ERR_DATA",
      `${this.placeOf(row)}: no longer has the row that was read at the start`,
      {
        hint: "The file was changed or removed while the run used it. Put it back and resume the run; copy a file before you change it.",
      },
    );
  }

  #again(row: number, start: number): RowOutcome | undefined {
    const file = this.#fileOf(row);
    try {
      const text = readText(file, start, this.#bytes.at(row));
      return this.#read({ file, row: this.#numbers.at(row), value: JSON.parse(text) as unknown, text });
    } catch {
      return undefined;
    }
  }

  #fileOf(row: number): string {
    return this.#files.findLast(({ first }) => first <= row)!.file;
  }
}

function readText(file: string, start: number, bytes: number): string {
  const fd = openSync(file, "r");
  try {
    const text = Buffer.allocUnsafe(bytes);
    return text.toString("utf8", 0, readSync(fd, text, 0, bytes, start));
  } finally {
    closeSync(fd);
  }
}
