import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  openSync,
  type ReadStream,
  read,
  readFileSync,
  type Stats,
} from "node:fs";
import { promisify } from "node:util";
import { HoneError } from "../../errors.ts";

/**
 * Like "a+" and "w+", but never through a symbolic link (ELOOP): in a folder created by another user, a file name may
 * be a link to any file of this user. Modes of openSync and writeFile.
 */
export const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
export const REWRITING = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

const BLOCK_BYTES = 1 << 18;
const readInto = promisify(read);

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

/**
 * Yields a file in blocks. Each block ends after the last `end` in it, and is a view of a buffer that the next one
 * overwrites; a block without `end` grows up to `mostBytes`. Throws HONE_ERR_IO as readPlainFile does, Error for a
 * longer one.
 */
export async function* plainFileBlocks(path: string, end: number, mostBytes: number): AsyncGenerator<Buffer> {
  const { fd } = openPlain(path, undefined);
  try {
    let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    for (let filled = 0; ; ) {
      const { bytesRead } = await readInto(fd, block, filled, block.length - filled, null);
      filled += bytesRead;
      const whole = bytesRead === 0 ? filled : block.lastIndexOf(end, filled - 1) + 1;
      if (whole > 0) yield block.subarray(0, whole);
      if (bytesRead === 0) return;
      block.copyWithin(0, whole, filled);
      filled -= whole;
      if (filled < block.length) continue;
      if (filled >= mostBytes) throw new Error(`holds more than ${mostBytes} bytes without an end`);
      block = Buffer.concat([block], 2 * filled);
    }
  } finally {
    closeSync(fd);
  }
}

/** A file as a stream of bytes. Throws HONE_ERR_IO as readPlainFile does. */
export function streamPlainFile(path: string, hint?: string): ReadStream {
  const { fd } = openPlain(path, hint);
  return createReadStream(path, { fd, highWaterMark: 1 << 18 });
}
