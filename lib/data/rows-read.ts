import { channel } from "node:diagnostics_channel";
import { statSync } from "node:fs";
import type { DataFile } from "./files.ts";

/** Where the reading of a data set is. */
export interface RowsRead {
  /** Name of the set's kind. */
  readonly kind: string;
  /** Path that is being read. */
  readonly file: string;
  /** Of all files of the set so far. */
  readonly rows: number;
  /** Of the bytes of all files, 0 to 1; inside a packed file, an array, CSV or parquet it stays where the file begins. */
  readonly share: number;
}

/** Is told of every batch of rows that was read and used; costs nothing while no subscriber listens. */
export const ROWS_READ = channel("hone:rows-read");

/** Tells ROWS_READ how far the files of one data set are read. */
export class RowsReadTeller {
  readonly #kind: string;
  readonly #sizes: readonly number[];
  readonly #total: number;
  #before = 0;

  constructor(kind: string, files: readonly DataFile[]) {
    this.#kind = kind;
    this.#sizes = ROWS_READ.hasSubscribers ? files.map(({ path }) => sizeOf(path)) : [];
    this.#total = this.#sizes.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** @param end byte of the file up to which rows are read, where it is known. */
  read(file: string, rows: number, end = 0): void {
    if (this.#total === 0) return;
    const told: RowsRead = { kind: this.#kind, file, rows, share: (this.#before + end) / this.#total };
    ROWS_READ.publish(told);
  }

  /** @param index of a file whose rows are all read. */
  fileEnded(file: string, index: number, rows: number): void {
    this.#before += this.#sizes[index] ?? 0;
    this.read(file, rows);
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
