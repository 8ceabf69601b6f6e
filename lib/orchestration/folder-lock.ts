import { mkdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { HoneError } from "../errors.ts";

/**
 * Keeps a second run out of a folder until disposed, or until the process ends, however it ends: an abstract socket
 * named after the folder's inode, which the kernel gives to one process of a machine at a time and takes back itself.
 * It sees neither other machines nor other network namespaces, and outside Linux it does nothing.
 * Throws HONE_ERR_USAGE if the folder is taken, HONE_ERR_IO if it cannot be made.
 */
export async function lockFolder(dir: string): Promise<Disposable> {
  const name = `\0hone-run-${folderId(dir)}`;
  if (process.platform !== "linux") return { [Symbol.dispose]: () => {} };
  const server = createServer((visitor) => visitor.destroy()).unref();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      // No such sockets here (a sandbox): the folder goes unguarded, as it would elsewhere.
      if (cause.code === "EADDRINUSE") reject(taken(dir));
      else resolve();
    });
    server.listen(name, resolve);
  });
  return { [Symbol.dispose]: () => void server.close() };
}

function folderId(dir: string): string {
  try {
    mkdirSync(dir, { recursive: true });
    const { dev, ino } = statSync(dir);
    return `${dev}-${ino}`;
  } catch (cause) {
    throw new HoneError("HONE_ERR_IO", `${dir} cannot be a run folder: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function taken(dir: string): HoneError {
  return new HoneError("HONE_ERR_USAGE", `${dir} belongs to a run that is under way`, {
    hint: "Wait for it, stop it (in this process: dispose of it), or choose another folder.",
  });
}
