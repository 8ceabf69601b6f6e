import { channel } from "node:diagnostics_channel";
import { statSync } from "node:fs";
import { type FilePart, LongLine, type PartSizes, partsOf } from "./file-parts.ts";
import type { DataFile } from "./files.ts";
import type { RowBatch } from "./line-rows.ts";
import { marksInOrder, type OpenRowThreads, type PartReaders, type RowThread } from "./row-threads.ts";
import { damaged, readRowBatches } from "./rows.ts";
import type { MarkedPart } from "./used-row.ts";

/** Progress of reading a data set. */
export interface RowsRead {
  /** Name of the set's kind. */
  readonly kind: string;
  /** Path that is being read. */
  readonly file: string;
  /** Rows read so far, over all files of the set. */
  readonly rows: number;
  /**
   * Fraction of the bytes of all files read, 0 to 1; advances only between files for small or compressed files,
   * arrays, CSV and parquet.
   */
  readonly share: number;
}

/** Receives a message for every batch of rows that was read and used; free without subscribers. */
export const ROWS_READ = channel("hone:rows-read");

type Read = RowBatch | MarkedPart;

/** Rows of all files of a data set in order; publishes to ROWS_READ once a batch is used. Throws the errors of readRowBatches. */
export async function* readFiles(
  kind: string,
  files: readonly DataFile[],
  columns?: readonly string[],
): AsyncGenerator<RowBatch, void> {
  yield* followed(kind, files, (file) => readRowBatches(file, columns));
}

interface Division extends Omit<PartReaders, "threads"> {
  readonly columns: readonly string[] | undefined;
  readonly open: OpenRowThreads;
  readonly sizes: PartSizes;
}

/** Like readFiles, but large JSONL files come as marks, which threads computed from parts of the files. */
export async function* readDivided(
  kind: string,
  files: readonly DataFile[],
  { columns, open, sizes, ...readers }: Division,
): AsyncGenerator<Read, void> {
  let threads: readonly RowThread[] | undefined;
  try {
    yield* followed<Read>(kind, files, (file) => {
      const parts = partsOf(file, sizes);
      if (parts.length > 0) threads ??= open();
      return parts.length > 0 && threads!.length > 0
        ? divided(file.path, parts, { ...readers, threads: threads! })
        : readRowBatches(file, columns);
    });
  } finally {
    for (const thread of threads ?? []) thread.close();
  }
}

/** The parts of a file in order, each with the number of lines before it. */
async function* divided(
  path: string,
  parts: readonly FilePart[],
  readers: PartReaders,
): AsyncGenerator<MarkedPart> {
  let lines = 0;
  let part = 0;
  try {
    for await (const marks of marksInOrder(parts, readers)) {
      yield { file: path, from: parts[part++]!.from, lines, marks };
      lines += marks.lines;
    }
  } catch (error) {
    if (!(error instanceof LongLine)) throw error;
    throw damaged(path, new Error(`line ${lines + error.lines + 1}: ${error.message}`, { cause: error }));
  }
}

/** Yields the results of `read` for each file and publishes progress to ROWS_READ. */
async function* followed<T extends Read>(
  kind: string,
  files: readonly DataFile[],
  read: (file: DataFile) => AsyncGenerator<T>,
): AsyncGenerator<T, void> {
  if (!ROWS_READ.hasSubscribers) {
    for (const file of files) yield* read(file);
    return;
  }
  const sizes = files.map(({ path }) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  const total = Math.max(
    1,
    sizes.reduce((sum, bytes) => sum + bytes, 0),
  );
  let rows = 0;
  let before = 0;
  const tell = (file: string, bytes: number) =>
    ROWS_READ.publish({ kind, file, rows, share: bytes / total } satisfies RowsRead);
  for (const [i, file] of files.entries()) {
    let end = 0;
    for await (const some of read(file)) {
      yield some;
      rows += rowsIn(some);
      end = endOf(some) ?? end;
      tell(file.path, before + end);
    }
    before += sizes[i]!;
    tell(file.path, before);
  }
}

const rowsIn = (read: Read): number => ("marks" in read ? read.marks.rows : read.length);

/** The byte at which the last row ends, if rows have positions. */
function endOf(read: Read): number | undefined {
  if ("marks" in read) return read.from;
  const last = read.at(-1);
  return last !== undefined && "span" in last ? last.span.start + last.span.bytes : undefined;
}
