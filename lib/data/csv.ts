import { StringDecoder } from "node:string_decoder";
import { streamPlainFile } from "../shared/files/plain-file.ts";
import type { Fault, RawRow } from "./raw-row.ts";

/**
 * Reads rows of a CSV file by the names in its first line, in pieces; the row after that line is 1. Quoted fields may
 * contain commas, line ends and doubled quotes. A row with more fields than names becomes a Fault: an unquoted comma
 * has shifted its fields. Throws on a file that ends within a quoted field.
 * @param bytes of the file, if it is compressed
 * Source: RFC 4180.
 */
export async function* csvRows(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = streamPlainFile(path),
): AsyncGenerator<RawRow | Fault> {
  let header: readonly string[] | undefined;
  let row = 0;
  for await (const record of records(textOf(bytes))) {
    if (header === undefined) {
      header = record.map((name, i) => (i === 0 ? name.replace(/^\uFEFF/, "") : name));
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

async function* textOf(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  for await (const chunk of bytes)
    yield decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
  yield decoder.end();
}

/** Lines of fields; skips empty lines. */
async function* records(chunks: AsyncIterable<string>): AsyncGenerator<string[]> {
  let fields: string[] = [];
  let field = "";
  /** Inside quotes, after a quote that may close them, or outside. */
  let state: "plain" | "quoted" | "closing" = "plain";
  const line = () => {
    const done = [...fields, field.replace(/\r$/, "")];
    [fields, field, state] = [[], "", "plain"];
    return done;
  };
  for await (const chunk of chunks) {
    for (const char of chunk) {
      if (state === "quoted") {
        if (char === '"') state = "closing";
        else field += char;
      } else if (char === '"' && (state === "closing" || field === "")) {
        if (state === "closing") field += char;
        state = "quoted";
      } else if (char === ",") {
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
