import { type FileHandle, open } from "node:fs/promises";
import type { AsyncBuffer, FileMetaData } from "hyparquet";
import type { RawRow } from "./raw-row.ts";

/**
 * Rows of a parquet file, a row group at a time. Values are as hyparquet decodes them: strings, numbers, lists and
 * structs as plain values, 64-bit integers as numbers if they are safe and as bigint otherwise. Throws hyparquet's
 * error for a damaged file.
 */
export async function* parquetRows(path: string, columns?: readonly string[]): AsyncGenerator<RawRow> {
  const [{ parquetMetadataAsync, parquetReadObjects, parquetSchema }, { compressors }] = await Promise.all([
    import("hyparquet"),
    import("hyparquet-compressors"),
  ]);
  const handle = await open(path);
  try {
    const file = await bufferOf(handle);
    const metadata = await parquetMetadataAsync(file);
    const names = parquetSchema(metadata).children.map(({ element }) => element.name);
    const wanted = columns === undefined ? names : names.filter((name) => columns.includes(name));
    for (const [start, end] of rowGroups(metadata)) {
      const range = { rowStart: start, rowEnd: end, columns: wanted };
      const rows = await parquetReadObjects({ file, metadata, compressors, ...range });
      for (const [i, value] of rows.entries()) yield { file: path, row: start + i + 1, value: plain(value) };
    }
  } finally {
    await handle.close();
  }
}

function rowGroups({ row_groups }: FileMetaData): [start: number, end: number][] {
  let start = 0;
  return row_groups.map(({ num_rows }) => {
    const range: [number, number] = [start, start + Number(num_rows)];
    start = range[1];
    return range;
  });
}

async function bufferOf(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat();
  return {
    byteLength: size,
    async slice(start: number, end = size): Promise<ArrayBuffer> {
      if (start < 0 || end > size || end < start)
        throw new RangeError("parquet metadata that point outside the file");
      const bytes = new Uint8Array(end - start);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
      if (bytesRead < bytes.length) throw new RangeError("a parquet file that is cut off");
      return bytes.buffer;
    },
  };
}

/** Converts 64-bit integers to numbers where a number is exact (up to 2^53 - 1), in nested values too. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || value instanceof Date) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
