import { StringDecoder } from "node:string_decoder";
import { streamPlainFile } from "../shared/files/plain-file.ts";
import type { Fault, RawRow } from "./raw-row.ts";

/**
 * Streams the rows of a CSV file whose first line has the names; the first row after it has number 1. Fields are
 * separated by commas, or by semicolons or tabs if the first line contains only these. Quoted fields may contain
 * separators, line ends and doubled quotes. A row with more fields than names becomes a Fault: an unquoted separator
 * has shifted its fields. Throws if the file ends within a quoted field. Source: RFC 4180.
 * @param bytes the decompressed content, if the file is compressed
 */
export async function* csvRows(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = streamPlainFile(path),
): AsyncGenerator<RawRow | Fault> {
  let header: readonly string[] | undefined;
  let row = 0;
  for await (const record of records(textOf(bytes), isTabbed(path) ? "\t" : undefined)) {
    if (header === undefined) {
      header = record;
      continue;
    }
    row += 1;
    if (record.slice(header.length).some((extra) => extra !== "")) {
      yield { file: path, row, fault: "more fields than the first line has names: a comma outside quotes?" };
      continue;
    }
    const fields = header.map((name, i) => [name, record[i] ?? ""] as const);
    yield { file: path, row, value: Object.fromEntries(fields) };
  }
}

/** Decodes the bytes and drops a byte order mark, behind which a quote would not count as the beginning of a field. */
async function* textOf(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let isStart = true;
  for await (const chunk of bytes) {
    const text = decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    yield isStart ? text.replace(/^\uFEFF/, "") : text;
    isStart &&= text === "";
  }
  yield decoder.end();
}

/** The separator of a file: a comma, unless its first line has only semicolons, or only tabs, outside quotes. */
function separatorOf(start: string): string {
  const [line = ""] = start.replaceAll(/"[^"]*"/g, "").split("\n", 1);
  return [",", ";", "\t"].find((one) => line.includes(one)) ?? ",";
}

const isTabbed = (path: string): boolean => /\.tsv(?:\.\w+)?$/i.test(path);

/** Yields the fields of each line; skips empty lines. @param separator between fields; default: detected in the first line */
async function* records(chunks: AsyncIterable<string>, separator?: string): AsyncGenerator<string[]> {
  let fields: string[] = [];
  let field = "";
  let between = separator;
  /** "quoted": inside quotes; "closing": after a quote that may close them; "plain": outside quotes. */
  let state: "plain" | "quoted" | "closing" = "plain";
  const line = () => {
    const done = [...fields, field.replace(/\r$/, "")];
    [fields, field, state] = [[], "", "plain"];
    return done;
  };
  for await (const chunk of chunks) {
    between ??= chunk === "" ? undefined : separatorOf(chunk);
    for (const char of chunk) {
      if (state === "quoted") {
        if (char === '"') state = "closing";
        else field += char;
      } else if (char === '"' && (state === "closing" || field === "")) {
        if (state === "closing") field += char;
        state = "quoted";
      } else if (char === between) {
        fields.push(field);
        [field, state] = ["", "plain"];
      } else if (char === "\n") {
        const done = line();
        if (done.length > 1 || done[0] !== "") yield done;
      } else field += char;
    }
  }
  if (state === "quoted") throw new Error("ends inside a quoted field");
  if (field !== "" || fields.length > 0) yield line();
}
