import { StringDecoder } from "node:string_decoder";
import { HoneError } from "../../errors.ts";
import { streamPlainFile } from "./plain-file.ts";

/** Characters of the longest line: a completion of a million tokens has some four million. */
const LONGEST_LINE = 1 << 26;

/**
 * Lines of a UTF-8 file in order, without line ends and byte order mark, while it is being read: holds one block at a
 * time. The last line needs no line end. Closes the file if the caller stops early. Throws HONE_ERR_IO for a path
 * that cannot be read or is not a file, HONE_ERR_DATA naming a line of more than 2^26 characters.
 * @param hint remedy if it cannot be read
 */
export async function* textLines(path: string, hint?: string): AsyncGenerator<string, void, undefined> {
  const input = streamPlainFile(path, hint);
  const decoder = new StringDecoder("utf8");
  let number = 0;
  let rest = "";
  try {
    for await (const block of input as AsyncIterable<Buffer>) {
      const [first = "", ...more] = decoder.write(block).split("\n");
      rest += first;
      for (const next of more) {
        number += 1;
        yield clean(rest, number);
        rest = next;
      }
      if (rest.length > LONGEST_LINE) {
        const message = `${path}:${number + 1}: the line is longer than ${LONGEST_LINE} characters`;
        throw new HoneError("HONE_ERR_DATA", message, { hint: "Is it a file of one JSON object a line?" });
      }
    }
    rest += decoder.end();
    if (rest !== "") yield clean(rest, number + 1);
  } catch (cause) {
    if (HoneError.is(cause)) throw cause;
    throw new HoneError("HONE_ERR_IO", `cannot read ${path}: ${(cause as Error).message}`, {
      cause,
      ...(hint !== undefined && { hint }),
    });
  } finally {
    input.destroy();
  }
}

/** The JSON object in a line; undefined if it is not one. */
export function objectOfLine(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Strips "\r" from the end and, in the first line, a byte order mark. */
function clean(line: string, number: number): string {
  const end = line.endsWith("\r") ? -1 : undefined;
  return line.slice(number === 1 && line.startsWith("\ufeff") ? 1 : 0, end);
}
