import { channel } from "node:diagnostics_channel";
import { statSync } from "node:fs";
import type { DataFile } from "./files.ts";
import { type RowBatch, readRowBatches } from "./rows.ts";

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

/** The rows of all files of a data set in their order; ROWS_READ is told when those of a batch are used. Throws as readRowBatches. */
export async function* readFiles(
  kind: string,
  files: readonly DataFile[],
  columns?: readonly string[],
): AsyncGenerator<RowBatch, void> {
  if (!ROWS_READ.hasSubscribers) {
    for (const file of files) yield* readRowBatches(file, columns);
    return;
  }
  const sizes = files.map(({ path }) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  const total = Math.max(
    1,
    sizes.reduce((sum, bytes) => sum + bytes, 0),
  );
  const at = { rows: 0, end: 0 };
  let before = 0;
  const tell = (file: string, bytes: number) =>
    ROWS_READ.publish({ kind, file, rows: at.rows, share: bytes / total } satisfies RowsRead);
  for (const [i, file] of files.entries()) {
    at.end = 0;
    for await (const batch of readRowBatches(file, columns)) {
      yield followed(batch, at);
      tell(file.path, before + at.end);
    }
    before += sizes[i]!;
    tell(file.path, before);
  }
}

/** The same rows; `at` has their number and the byte at which the last one ends, where rows have places. */
function* followed(batch: RowBatch, at: { rows: number; end: number }): Generator<RowBatchItem> {
  for (const raw of batch) {
    at.rows += 1;
    if ("span" in raw) at.end = raw.span.start + raw.span.bytes;
    yield raw;
  }
}

type RowBatchItem = RowBatch extends Iterable<infer Item> ? Item : never;
