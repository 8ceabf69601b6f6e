import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { HoneError } from "./errors.ts";

export interface TextLinesOptions {
  /** Bytes of the file that count; default: all that is there when its end is reached. */
  readonly bytes?: number;
  /** What to do when it cannot be read. */
  readonly hint?: string;
}

/**
 * Lines of a UTF-8 file in order, without their ends, while it is being read: one block of it is held at a time. A last
 * line needs no end. Who stops early closes the file. Throws HONE_ERR_IO.
 */
export async function* textLines(
  path: string,
  { bytes = Number.POSITIVE_INFINITY, hint }: TextLinesOptions = {},
): AsyncGenerator<string, void, undefined> {
  if (bytes === 0) return; // a stream's `end` is inclusive
  const input = createReadStream(path, { encoding: "utf8", end: bytes - 1 });
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (cause) {
    throw new HoneError("HONE_ERR_IO", `cannot read ${path}: ${(cause as Error).message}`, {
      cause,
      ...(hint !== undefined && { hint }),
    });
  } finally {
    input.destroy();
  }
}
