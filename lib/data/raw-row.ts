/** One row as in its file, before its fields are checked. */
export interface RawRow {
  readonly file: string;
  /** Line of a JSONL file, place in a JSON array or a parquet file; the first is 1. */
  readonly row: number;
  readonly value: unknown;
  /** The row as JSON text, if its file has JSON: numbers with every digit. */
  readonly text?: string;
}

/** A place in a file that holds no row although one should be there. */
export interface Fault {
  readonly file: string;
  readonly row: number;
  /** The same words for the same kind of damage, so that it can be counted. */
  readonly fault: string;
}
