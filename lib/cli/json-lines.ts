import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { HoneError } from "../errors.ts";

/** A line of a JSONL file, parsed; `where` is file and line number for messages. */
export interface JsonLine {
  readonly value: unknown;
  readonly where: string;
}

/** Lines in order, blank ones left out. Throws HONE_ERR_IO for the file, HONE_ERR_DATA naming a line that is no JSON. */
export async function* readJsonLines(file: string): AsyncGenerator<JsonLine, void, undefined> {
  const input = createReadStream(file, "utf8");
  await once(input, "open").catch((cause: Error) => {
    throw new HoneError("HONE_ERR_IO", `${file}: ${cause.message}`, { cause });
  });
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() !== "") yield parseLine(line, `${file}:${number}`);
  }
}

function parseLine(line: string, where: string): JsonLine {
  try {
    return { value: JSON.parse(line), where };
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `${where}: not JSON: ${line.slice(0, 80)}`, { cause });
  }
}
