import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { HoneError } from "./errors.ts";

/**
 * Lines of a UTF-8 file in order, without their ends, while it is being read: one block of it is held at a time. A last
 * line needs no end. Who stops early closes the file. Throws HONE_ERR_IO.
 * @param hint what to do when it cannot be read.
 */
export async function* textLines(path: string, hint?: string): AsyncGenerator<string, void, undefined> {
  const input = createReadStream(path, "utf8");
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
