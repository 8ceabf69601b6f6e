import { HoneError } from "../errors.ts";
import { textLines } from "../shared/files/text-lines.ts";

/** A non-blank line of a JSONL file; `number` counts from 1 and includes blank lines. */
export interface NumberedLine {
  readonly text: string;
  readonly number: number;
}

/** A parsed line of a JSONL file; `where` is the file and the line number, for messages. */
export interface JsonLine {
  readonly value: unknown;
  readonly where: string;
}

/** Yields lines in order without blank ones while the file is being read. Throws HONE_ERR_IO for the file. */
export async function* readLines(file: string): AsyncGenerator<NumberedLine, void, undefined> {
  let number = 0;
  for await (const text of textLines(file)) {
    number += 1;
    if (text.trim() !== "") yield { text, number };
  }
}

/** The value of a line. Throws HONE_ERR_DATA, which shows its beginning, for one that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `not JSON: ${text.slice(0, 80)}`, { cause });
  }
}

/** The values of a file's lines in order. Throws HONE_ERR_IO for the file, HONE_ERR_DATA naming a line that is no JSON. */
export async function* readJsonLines(file: string): AsyncGenerator<JsonLine, void, undefined> {
  for await (const { text, number } of readLines(file)) {
    const where = `${file}:${number}`;
    yield { value: parseLine(text, where), where };
  }
}

function parseLine(text: string, where: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `${where}: ${(cause as Error).message}`, { cause });
  }
}
