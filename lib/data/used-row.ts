import { crc32 } from "node:zlib";
import { placeOf } from "./census.ts";
import { keyOf, textOf } from "./content.ts";
import type { Candidate } from "./holdout.ts";
import type { RawRow, RowSpan } from "./raw-row.ts";
import { asked, type SoundRow } from "./row-judge.ts";
import { MARK, MARK_NUMBERS, type PartMarks, type RowKind } from "./row-marks.ts";
import type { RowDraft } from "./row-reader.ts";

/** A used row in the form in which it is stored. */
export interface StoredRow {
  readonly family: string;
  /** Path of the row's file. */
  readonly file: string;
  readonly number: number;
  readonly span?: RowSpan | undefined;
  /** Checksum of the row's text. */
  checksum(): number;
  /** Fields from which the row's problem is made; undefined if they must be read from disk again. */
  body?(): ReturnType<typeof asked>;
}

/** A used row: its problem, its location, and the hash of its content that decides the split. */
export class UsedRow implements Candidate, StoredRow {
  readonly row: number;
  readonly raw: RawRow;
  readonly #sound: SoundRow;

  constructor(row: number, raw: RawRow, sound: SoundRow) {
    this.row = row;
    this.raw = raw;
    this.#sound = sound;
  }

  get draft(): RowDraft {
    return this.#sound.draft;
  }

  get family(): string {
    return this.draft.family;
  }

  get file(): string {
    return this.raw.file;
  }

  get number(): number {
    return this.raw.row;
  }

  get span(): RowSpan | undefined {
    return this.raw.span;
  }

  get hash(): number {
    return this.#sound.hash;
  }

  get point(): number {
    return this.hash / 2 ** 32;
  }

  key(): string {
    return keyOf(textOf(this.draft.content));
  }

  get place(): string {
    return placeOf(this.raw);
  }

  checksum(): number {
    return crc32(this.raw.text!);
  }

  body(): ReturnType<typeof asked> {
    return asked(this.draft);
  }
}

/** Location of the rows of a part. */
export interface MarkedPart {
  readonly file: string;
  readonly from: number;
  /** Number of lines before the part. */
  readonly lines: number;
  readonly marks: PartMarks;
}

/** A row of a part that another thread has read. */
export class MarkedRow implements Candidate, StoredRow {
  readonly row: number;
  readonly #part: MarkedPart;
  readonly #at: number;

  /** @param at its place among the sound rows of the part */
  constructor(row: number, part: MarkedPart, at: number) {
    this.row = row;
    this.#part = part;
    this.#at = at;
  }

  #number(field: number): number {
    return this.#part.marks.numbers[this.#at * MARK_NUMBERS + field]!;
  }

  get kind(): RowKind {
    return this.#part.marks.kinds[this.#number(MARK.kind)]!;
  }

  get family(): string {
    return this.kind.family;
  }

  get file(): string {
    return this.#part.file;
  }

  get number(): number {
    return this.#part.lines + this.#number(MARK.line);
  }

  get span(): RowSpan {
    return { start: this.#part.from + this.#number(MARK.start), bytes: this.#number(MARK.bytes) };
  }

  get hash(): number {
    return this.#number(MARK.hash);
  }

  get second(): number {
    return this.#number(MARK.second);
  }

  get reference(): number {
    return this.#number(MARK.reference);
  }

  get point(): number {
    return this.hash / 2 ** 32;
  }

  key(): string {
    return this.#part.marks.keys.get(this.#at)!;
  }

  checksum(): number {
    return this.#number(MARK.checksum);
  }
}
