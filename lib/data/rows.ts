import { statSync } from "node:fs";
import { createGunzip, gunzipSync } from "node:zlib";
import { HoneError } from "../errors.ts";
import { plainFileBlocks, readPlainFile, streamPlainFile } from "../shared/files/plain-file.ts";
import { csvRows } from "./csv.ts";
import type { DataFile } from "./files.ts";
import { elementSpans, skipSpace } from "./json-array.ts";
import { arrayInObject } from "./json-object.ts";
import { LineRows, NEWLINE, type RowBatch, withoutBom } from "./line-rows.ts";
import { parquetRows } from "./parquet.ts";
import type { Fault, RawRow } from "./raw-row.ts";

/** Limit for a file that is one array, which is read into memory as a whole. */
const MOST_JSON_BYTES = 2 ** 31 - 1;
export const LONGEST_LINE_BYTES = 1 << 28;
/** Rows of smaller files are kept in memory, where no change of the file can reach them during a run. */
const LARGE_BYTES = 1 << 23;

/** True for a large, uncompressed JSONL file, whose rows are read from disk on demand. */
export const isLargeOfLines = ({ path, format, gzip, zstd }: DataFile): boolean =>
  format === "jsonl" &&
  !gzip &&
  !zstd &&
  (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGE_BYTES;
const BATCH_ROWS = 256;

/** Yields every row of a file in order, from readRowBatches. */
export async function* readRows(
  file: DataFile,
  columns?: readonly string[],
): AsyncGenerator<RawRow | Fault, void> {
  for await (const batch of readRowBatches(file, columns)) yield* batch;
}

/**
 * Yields every row of a file in order; holds one piece of a JSONL or parquet file in memory at a time. Skips blank
 * lines. A `.json` file that does not begin with `[` is read as JSONL, since some sets are published so, unless it is
 * one object around its rows. A row that is not
 * JSON or not UTF-8 becomes a Fault. Throws HONE_ERR_DATA, naming the file, if the file itself is damaged: a
 * truncated gzip or array, or parquet without its footer.
 * @param columns of a parquet file to read; ignores those it lacks
 */
export async function* readRowBatches(
  file: DataFile,
  columns?: readonly string[],
): AsyncGenerator<RowBatch, void> {
  const { path } = file;
  try {
    if (file.format === "parquet") yield* together(parquetRows(path, columns));
    else if (file.format === "csv") yield* together(csvRows(path, await packedBytes(file)));
    else if (file.format === "jsonl") yield* lineBatches(file);
    else yield* jsonBatches(file);
  } catch (cause) {
    if (HoneError.is(cause) && (cause.code === "HONE_ERR_IO" || cause.message.startsWith(path))) throw cause;
    throw damaged(path, cause);
  }
}

/** The error for a file that is damaged as a whole. */
export const damaged = (path: string, cause: unknown): HoneError =>
  new HoneError("HONE_ERR_DATA", `${path}: ${(cause as Error).message}`, {
    cause,
    hint: "The file is damaged or was not downloaded completely; download it again.",
  });

async function* together(rows: AsyncIterable<RawRow | Fault>): AsyncGenerator<RowBatch> {
  let batch: (RawRow | Fault)[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

async function* jsonBatches(file: DataFile): AsyncGenerator<RowBatch> {
  const text = withoutBom(await wholeOf(file));
  const array = text[skipSpace(text, 0)] === 0x5b ? text : arrayInObject(file.path, text);
  if (array === undefined) yield* linesOf(file.path, [text]);
  else yield* together(elements(file.path, array));
}

async function* elements(path: string, text: Buffer): AsyncGenerator<RawRow | Fault> {
  const rows = new LineRows(path, { isSpanned: false });
  for (const { start, end } of elementSpans(text)) yield rows.parse(text.subarray(start, end), start);
}

/** Contents of a packed file; undefined for others. */
async function packedBytes(
  file: DataFile,
): Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array> | undefined> {
  if (file.gzip) return unpacked(file.path);
  return file.zstd ? [await wholeOf(file)] : undefined;
}

/** A file's contents in memory. */
async function wholeOf({ path, gzip, zstd }: DataFile): Promise<Buffer> {
  const bytes = readPlainFile(path, MOST_JSON_BYTES);
  if (gzip) return gunzipSync(bytes);
  if (!zstd) return bytes;
  const { compressors } = await import("hyparquet-compressors");
  const whole = compressors.ZSTD!(bytes, 0);
  return Buffer.from(whole.buffer, whole.byteOffset, whole.length);
}

async function* lineBatches(file: DataFile): AsyncGenerator<RowBatch> {
  const { path } = file;
  const packed = await packedBytes(file);
  if (packed !== undefined) return yield* linesOf(path, packed);
  const rows = new LineRows(path, { isSpanned: isLargeOfLines(file) });
  let start = 0;
  try {
    for await (const block of plainFileBlocks(path, NEWLINE, LONGEST_LINE_BYTES)) {
      yield* rows.lines(block, start);
      start += block.length;
    }
  } catch (error) {
    if (HoneError.is(error)) throw error;
    throw new Error(`line ${rows.read + 1}: ${(error as Error).message}`, { cause: error });
  }
}

/** Lines of a file that cannot be read from its middle. */
async function* linesOf(
  path: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<RowBatch> {
  const rows = new LineRows(path, { isSpanned: false });
  let rest: Uint8Array[] = [];
  let waiting = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      yield* rows.lines(Buffer.concat([...rest, chunk.subarray(0, end)]), 0);
      [rest, waiting] = [[], 0];
    }
    rest.push(chunk.subarray(end));
    waiting += chunk.length - end;
    if (waiting > LONGEST_LINE_BYTES)
      throw new Error(`line ${rows.read + 1} is longer than ${LONGEST_LINE_BYTES} bytes`);
  }
  yield* rows.lines(Buffer.concat(rest), 0);
}

function unpacked(path: string): AsyncIterable<Uint8Array> {
  const stream = streamPlainFile(path);
  const unzipped = createGunzip();
  // pipe() forwards neither errors nor destruction
  stream.on("error", (error) => unzipped.destroy(error));
  unzipped.on("close", () => stream.destroy());
  return stream.pipe(unzipped);
}
