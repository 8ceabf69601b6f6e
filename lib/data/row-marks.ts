import { crc32 } from "node:zlib";
import { columnsOf } from "./census.ts";
import { keyOf, textOf } from "./content.ts";
import { type FilePart, PartMemory } from "./file-parts.ts";
import { LineRows } from "./line-rows.ts";
import type { Fault, RawRow } from "./raw-row.ts";
import type { Refusal, RowJudge, SoundRow } from "./row-judge.ts";
import type { RowDraft } from "./row-reader.ts";

/** Fields that rows of one kind share. */
export type RowKind = Pick<RowDraft, "family" | "askedFrom" | "answerFrom">;

/** Rows refused for one reason, with the first of them. */
export interface RefusedRows extends Refusal {
  rows: number;
  /** The line within the part, and the row's columns. */
  readonly first: { readonly line: number; readonly columns?: string }[];
}

/** Results for the rows of a part of a file, eight numbers each: all that is kept of them. Transferable between threads. */
export interface PartMarks {
  /** Number of lines in the part, and of those that are rows. */
  readonly lines: number;
  readonly rows: number;
  /** For every valid row the fields that MARK lists, rows one after the other. */
  readonly numbers: Uint32Array;
  readonly kinds: readonly RowKind[];
  /** Content keys of rows that may be held out, by their index among the sound rows. */
  readonly keys: ReadonlyMap<number, string>;
  readonly refused: readonly RefusedRows[];
}

/** Indices of a row's numbers; `start` counts from the part's `from`, `line` from 1 within the part. */
export const MARK = { start: 0, bytes: 1, line: 2, hash: 3, second: 4, reference: 5, checksum: 6, kind: 7 };
export const MARK_NUMBERS = 8;

/** Rows kept per reason: as many as a report shows. */
const FIRST = 5;

/** Reads and judges the lines of one part after another. */
export class PartReader {
  readonly #judge: RowJudge;
  readonly #memory = new PartMemory();
  #last: Promise<unknown> = Promise.resolve();

  constructor(judge: RowJudge) {
    this.#judge = judge;
  }

  /**
   * Throws LongLine, and errors of reading.
   * @param reach only rows whose point is not greater (Candidate.point) may be held out
   */
  marks(part: FilePart, reach: number): Promise<PartMarks> {
    const marks = this.#last.then(() => this.#read(part, reach));
    this.#last = marks.catch(() => {});
    return marks;
  }

  async #read(part: FilePart, reach: number): Promise<PartMarks> {
    const { bytes, start } = this.#memory.linesOf(part);
    const rows = new LineRows(part.path, { isSpanned: true, isInside: part.from > 0 });
    const marks = new MarkList(part.from, reach);
    // the checksum is computed here because the bytes of the row's text are still available
    const checksumOf = ({ span }: RawRow) =>
      crc32(bytes.subarray(span!.start - start, span!.start - start + span!.bytes));
    for (const batch of rows.lines(bytes, start))
      for (const raw of batch) {
        const judged = this.#judge.judge(raw);
        const row = judged instanceof Promise ? await judged : judged;
        if ("as" in row) marks.refuse(raw, row);
        else marks.take(raw as RawRow, row, checksumOf(raw as RawRow));
      }
    return marks.end(rows.read);
  }
}

class MarkList {
  readonly #from: number;
  readonly #reach: number;
  #numbers = new Uint32Array(1 << 12);
  #count = 0;
  #rows = 0;
  readonly #kinds: RowKind[] = [];
  readonly #keys = new Map<number, string>();
  readonly #refused = new Map<string, RefusedRows>();

  constructor(from: number, reach: number) {
    this.#from = from;
    this.#reach = reach * 2 ** 32;
  }

  end(lines: number): PartMarks {
    const numbers = this.#numbers.slice(0, this.#count * MARK_NUMBERS);
    const [rows, kinds, keys] = [this.#rows, this.#kinds, this.#keys];
    return { lines, rows, numbers, kinds, keys, refused: [...this.#refused.values()] };
  }

  take({ span, row }: RawRow, { draft, hash, second, reference }: SoundRow, checksum: number): void {
    this.#rows += 1;
    const at = this.#count * MARK_NUMBERS;
    if (at === this.#numbers.length) {
      const grown = new Uint32Array(2 * at);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    const numbers = this.#numbers;
    numbers[at + MARK.start] = span!.start - this.#from;
    numbers[at + MARK.bytes] = span!.bytes;
    numbers[at + MARK.line] = row;
    numbers[at + MARK.hash] = hash;
    numbers[at + MARK.second] = second;
    numbers[at + MARK.reference] = reference;
    numbers[at + MARK.checksum] = checksum;
    numbers[at + MARK.kind] = this.#kindOf(draft);
    if (hash <= this.#reach) this.#keys.set(this.#count, keyOf(textOf(draft.content)));
    this.#count += 1;
  }

  #kindOf({ family, askedFrom, answerFrom }: RowDraft): number {
    const isSame = (kind: RowKind) =>
      kind.family === family && kind.askedFrom === askedFrom && kind.answerFrom === answerFrom;
    const known = this.#kinds.findIndex(isSame);
    if (known >= 0) return known;
    const names = {
      ...(askedFrom !== undefined && { askedFrom }),
      ...(answerFrom !== undefined && { answerFrom }),
    };
    return this.#kinds.push({ family, ...names }) - 1;
  }

  refuse(raw: RawRow | Fault, { as, reason }: Refusal): void {
    this.#rows += 1;
    const name = `${as} ${reason}`;
    const refused = this.#refused.get(name) ?? { as, reason, rows: 0, first: [] };
    this.#refused.set(name, refused);
    refused.rows += 1;
    if (refused.first.length === FIRST) return;
    refused.first.push({ line: raw.row, ...("value" in raw && { columns: columnsOf(raw.value) }) });
  }
}
