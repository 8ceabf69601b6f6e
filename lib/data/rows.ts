import { createGunzip, gunzipSync } from "node:zlib";
import { HoneError } from "../errors.ts";
import { readPlainFile, streamPlainFile } from "../plain-file.ts";
import { csvRows } from "./csv.ts";
import type { DataFile } from "./files.ts";
import { elementSpans, skipSpace } from "./json-array.ts";
import { parquetRows } from "./parquet.ts";
import type { Fault, RawRow } from "./raw-row.ts";

const NEWLINE = 0x0a;
const BOM = [0xef, 0xbb, 0xbf];
/** Limit for a file that is one array, which is read into memory as a whole. */
const MOST_JSON_BYTES = 2 ** 31 - 1;
const LONGEST_LINE_BYTES = 1 << 28;

/**
 * Every row of a file, in order, without holding more of a JSONL or parquet file than a piece at a time. Blank lines
 * are no rows. A `.json` file that does not begin with `[` is read as JSONL: some sets are published so.
 * A row that is no JSON or no UTF-8 comes as a Fault. Throws HONE_ERR_DATA, naming the file, when the file itself
 * is damaged: a gzip or an array that ends in the middle, parquet without its footer.
 * @param columns of a parquet file that are wanted; those it lacks are left out.
 */
export async function* readRows(
  file: DataFile,
  columns?: readonly string[],
): AsyncGenerator<RawRow | Fault, void> {
  const { path } = file;
  try {
    if (file.format === "parquet") yield* parquetRows(path, columns);
    else if (file.format === "csv") yield* csvRows(path);
    else if (file.format === "jsonl") yield* parsed(path, lines(streamOf(file)));
    else yield* jsonRows(file);
  } catch (cause) {
    if (HoneError.is(cause) && (cause.code === "HONE_ERR_IO" || cause.message.startsWith(path))) throw cause;
    throw new HoneError("HONE_ERR_DATA", `${path}: ${(cause as Error).message}`, {
      cause,
      hint: "The file is damaged or was not downloaded to its end; fetch it again.",
    });
  }
}

async function* jsonRows(file: DataFile): AsyncGenerator<RawRow | Fault> {
  const bytes = readPlainFile(file.path, MOST_JSON_BYTES);
  const text = withoutBom(file.gzip ? gunzipSync(bytes) : bytes);
  if (text[skipSpace(text, 0)] === 0x5b) yield* parsed(file.path, elements(text));
  else yield* parsed(file.path, lines([text]));
}

type Piece = readonly [number: number, bytes: Uint8Array];

function* elements(text: Uint8Array): Generator<Piece> {
  let row = 0;
  for (const { start, end } of elementSpans(text)) {
    row += 1;
    yield [row, text.subarray(start, end)];
  }
}

async function* parsed(
  file: string,
  pieces: Iterable<Piece> | AsyncIterable<Piece>,
): AsyncGenerator<RawRow | Fault> {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for await (const [row, bytes] of pieces) {
    let text: string;
    try {
      text = utf8.decode(bytes);
    } catch {
      yield { file, row, fault: "not UTF-8" };
      continue;
    }
    try {
      yield { file, row, value: JSON.parse(text) as unknown, text };
    } catch {
      yield { file, row, fault: "not JSON" };
    }
  }
}

/** Lines with their numbers from 1; blank ones are counted and left out. */
async function* lines(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  let number = 0;
  let rest: Uint8Array[] = [];
  const line = (end: Uint8Array): Piece => {
    const whole = rest.length === 0 ? end : Buffer.concat([...rest, end]);
    rest = [];
    number += 1;
    return [number, number === 1 ? withoutBom(whole) : whole];
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = line(chunk.subarray(start, end));
      if (skipSpace(piece[1], 0) < piece[1].length) yield piece;
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
    const waiting = rest.reduce((sum, part) => sum + part.length, 0);
    if (waiting > LONGEST_LINE_BYTES) {
      throw new Error(`line ${number + 1} is longer than ${LONGEST_LINE_BYTES} bytes`);
    }
  }
  const last = line(new Uint8Array());
  if (skipSpace(last[1], 0) < last[1].length) yield last;
}

function streamOf({ path, gzip }: DataFile): AsyncIterable<Uint8Array> {
  const stream = streamPlainFile(path);
  if (!gzip) return stream;
  const unzipped = createGunzip();
  // pipe() passes on neither errors nor that nobody reads any more
  stream.on("error", (error) => unzipped.destroy(error));
  unzipped.on("close", () => stream.destroy());
  return stream.pipe(unzipped);
}

function withoutBom(bytes: Uint8Array): Uint8Array {
  return BOM.every((byte, i) => bytes[i] === byte) ? bytes.subarray(BOM.length) : bytes;
}
