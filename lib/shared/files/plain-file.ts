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

/**
 * Opens a file, without waiting for the writer of a pipe. Throws HONE_ERR_IO if it cannot be opened or is not
 * a plain file.
 */
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
    hint: hint ?? "Write its output into a file first.",
  });
}

/**
 * Reads a whole file. Throws HONE_ERR_IO if it cannot be read or is not a plain file; HONE_ERR_FORMAT, before
 * reading, if it has more than `mostBytes`.
 */
export function readPlainFile(path: string, mostBytes: number, hint?: string): Buffer {
  const { fd, size } = openPlain(path, hint);
  try {
    if (size > mostBytes) {
      throw new HoneError(
        "HONE_ERR_FORMAT",
        `${path} has ${size} bytes; a file of its kind may have ${mostBytes} at most`,
      );
    }
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Yields a file in blocks, each a view of one buffer that the next block overwrites. A block ends after the
 * last `end` in the buffer; without one the block grows up to `mostBytes`. Throws HONE_ERR_IO as
 * readPlainFile does, and Error for a longer block.
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
