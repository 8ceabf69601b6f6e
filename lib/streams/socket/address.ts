import { closeSync, lstatSync, openSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { HoneError } from "../../errors.ts";

/** Bytes of a socket's path, sun_path of unix(7) without its zero. */
const LONGEST_PATH = 107;
/** Longest name of a socket; leaves space for the sockets of its lock in the same folder, whose names are longer. */
const LONGEST_NAME = 50;
const SCHEME = "unix:";

/** The absolute path of "unix:<path>"; undefined for other addresses. Throws HONE_ERR_USAGE for a path that is no file's. */
export function unixPath(url: string): string | undefined {
  if (!url.startsWith(SCHEME)) return undefined;
  const path = url.slice(SCHEME.length);
  const name = basename(path);
  if (path === "" || path.endsWith("/") || Buffer.byteLength(name) > LONGEST_NAME || path.includes("\0"))
    throw new HoneError("HONE_ERR_USAGE", `${JSON.stringify(url)} names no socket`, {
      hint: `unix:<path>, the last part of which has 1 to ${LONGEST_NAME} bytes.`,
    });
  return resolve(path);
}

export const unixUrl = (path: string): string => `${SCHEME}${path}`;

/** A name by which the system finds a socket, until it is disposed. */
export interface SocketName extends Disposable {
  readonly name: string;
}

/** Supports paths of any length. Throws HONE_ERR_USAGE for an invalid name, HONE_ERR_IO if the folder cannot be opened. */
export function nameOf(path: string): SocketName {
  if (Buffer.byteLength(path) <= LONGEST_PATH) return { name: path, [Symbol.dispose]: () => {} };
  if (process.platform !== "linux")
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${path} is longer than the ${LONGEST_PATH} bytes of a socket's path`,
      {
        hint: "Give --store unix:<a shorter path>, or set TMPDIR to a folder with a shorter one.",
      },
    );
  const fd = openFolder(path);
  const name = join(`/proc/self/fd/${fd}`, basename(path));
  return { name, [Symbol.dispose]: () => closeSync(fd) };
}

/** True if a socket exists. Throws HONE_ERR_USAGE if the path is another kind of file, or a socket of another user. */
export function isSocketHere(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isSocket())
    throw new HoneError("HONE_ERR_USAGE", `${path} is not a socket`, {
      hint: "Name a path at which no file exists.",
    });
  const user = process.getuid?.();
  if (user !== 0 && found.uid !== user)
    throw new HoneError("HONE_ERR_USAGE", `${path} is a socket of user ${found.uid}, not of ${user}`, {
      hint: "Name a path in a folder of your own.",
    });
  return true;
}

function openFolder(path: string): number {
  try {
    return openSync(dirname(path), "r");
  } catch (cause) {
    throw new HoneError("HONE_ERR_IO", `${path}: ${(cause as Error).message}`, { cause });
  }
}
