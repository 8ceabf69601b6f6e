import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  openSync,
  type ReadStream,
  readFileSync,
  type Stats,
} from "node:fs";
import { HoneError } from "./errors.ts";

/**
 * As "a+" and "w+", but never through a symbolic link (ELOOP): in a folder that somebody else made, a file's name may be
 * a link to any file of the user's. Modes of openSync and writeFile.
 */
export const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
export const REWRITING = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  return stats.isSocket() ? "a socket" : "a device";
}

/** Opens without waiting for a pipe's writer. Throws HONE_ERR_IO for what cannot be opened or is no file. */
function openPlain(path: string, hint: string | undefined): { readonly fd: number; readonly size: number } {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new HoneError("HONE_ERR_IO", `cannot read ${path}: ${(cause as Error).message}`, {
      cause,
      ...(hint !== undefined && { hint }),
    });
  }
  const stats = fstatSync(fd);
  if (stats.isFile()) return { fd, size: stats.size };
  closeSync(fd);
  throw new HoneError("HONE_ERR_IO", `${path} is ${kindOf(stats)}, not a file`, {
    hint: hint ?? "Write what it gives to a file first.",
  });
}

/**
 * The bytes of a file.
 * Throws HONE_ERR_IO for what cannot be read or is no file, HONE_ERR_FORMAT for more than `mostBytes`, before they are
 * read.
 */
export function readPlainFile(path: string, mostBytes: number, hint?: string): Buffer {
  const { fd, size } = openPlain(path, hint);
  try {
    if (size > mostBytes) {
      throw new HoneError(
        "HONE_ERR_FORMAT",
        `${path} has ${size} bytes; such a file has ${mostBytes} at most`,
      );
    }
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A file as a stream of bytes. Throws HONE_ERR_IO as readPlainFile does. */
export function streamPlainFile(path: string, hint?: string): ReadStream {
  const { fd } = openPlain(path, hint);
  return createReadStream(path, { fd, highWaterMark: 1 << 18 });
}
