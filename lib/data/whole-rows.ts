import { type JsonMaker, readJsonText } from "../shared/text/json-text.ts";
import type { RawRow } from "./raw-row.ts";
import type { DatasetOptions, RowReader } from "./row-reader.ts";

/** Wraps a reader so that each draft also has every column of its row. */
export function withColumns(reader: RowReader<DatasetOptions>): RowReader<DatasetOptions> {
  // without a list of columns, all columns of parquet files are read
  const { columns: _, ...rest } = reader;
  return {
    ...rest,
    open(options) {
      const read = reader.open(options);
      return (raw) => {
        const outcome = read(raw);
        return "question" in outcome ? { ...outcome, columns: plainColumns(raw) } : outcome;
      };
    },
  };
}

/** A row in JSON types: integers as numbers if a number holds them exactly, else as text. */
function plainColumns({ value, text }: RawRow): Record<string, unknown> {
  if (text !== undefined && LONG_NUMBER.test(text))
    return readJsonText(text, EXACT) as Record<string, unknown>;
  const plain = (_: string, inner: unknown) => {
    if (typeof inner !== "bigint") return inner;
    return Number.isSafeInteger(Number(inner)) ? Number(inner) : String(inner);
  };
  return JSON.parse(JSON.stringify(value, plain)) as Record<string, unknown>;
}

/** Integers of fewer digits are always exact. */
const LONG_NUMBER = /\d{16}/;
const EXACT: JsonMaker<unknown> = {
  constant: (value) => value,
  number: (digits, isInteger) =>
    isInteger && !Number.isSafeInteger(Number(digits)) ? digits : Number(digits),
  string: (text) => text,
  list: (items) => items,
  object: (members) => Object.fromEntries(members),
  maxDepth: 1000,
};
