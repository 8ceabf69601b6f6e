import type { DatasetOptions, RowReader } from "./row-reader.ts";

/** The same reader, with every column of its rows in the drafts. */
export function withColumns(reader: RowReader<DatasetOptions>): RowReader<DatasetOptions> {
  const { columns: _, ...rest } = reader; // of parquet files: all of them
  return {
    ...rest,
    open(options) {
      const read = reader.open(options);
      return (raw) => {
        const outcome = read(raw);
        return "question" in outcome ? { ...outcome, columns: plainColumns(raw.value) } : outcome;
      };
    },
  };
}

/** A row in JSON types: integers of parquet files as numbers if those are exact, else as text. */
function plainColumns(value: unknown): Record<string, unknown> {
  const plain = (_: string, inner: unknown) => {
    if (typeof inner !== "bigint") return inner;
    return Number.isSafeInteger(Number(inner)) ? Number(inner) : String(inner);
  };
  return JSON.parse(JSON.stringify(value, plain)) as Record<string, unknown>;
}
