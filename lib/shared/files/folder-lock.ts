import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoneError } from "../../errors.ts";

/** The rest of a socket's name after the lock's name: the process id and random digits. */
const REST = /^-(\d+)-[0-9a-f]+$/;
const OF_FOLDER = "lock";
/** Two processes that start simultaneously may both back off; each retries after a random pause. */
const TRIES = 6;
const MAX_WAIT_MS = 40;

/**
 * Keeps a second run out of a folder until disposed, or until the process ends in any way. Each process
 * listens on its own socket in the folder, and has the lock if, after that, no other socket answers: of two
 * processes, the later one finds the earlier. A dead process does not answer, so no lock goes stale. A
 * socket's name is found through the folder's inode: by every process of this machine that sees the volume,
 * in any namespace (container), but not by other machines. On a file system without sockets the folder is not
 * locked.
 * @param what the lock's holder, for messages
 * @param name locks of different names in the same folder are independent of each other
 * Throws HONE_ERR_USAGE if the folder is locked, with the process id in `details.pid`; HONE_ERR_IO if the
 * lock cannot be created.
 */
export async function lockFolder(dir: string, what = "a run", name = OF_FOLDER): Promise<Disposable> {
  const fd = openFolder(dir);
  // A socket's path may have 107 bytes; this one is short for every folder.
  const folder = process.platform === "linux" ? `/proc/self/fd/${fd}` : dir;
  let held = false;
  try {
    for (let attempt = 1; ; attempt++) {
      const lock = await take(folder, name);
      if (!("pid" in lock)) {
        held = true;
        return { [Symbol.dispose]: () => release(lock.server, fd) };
      }
      if (attempt === TRIES) throw taken(dir, what, lock.pid);
      await sleep(MAX_WAIT_MS * Math.random());
    }
  } finally {
    if (!held) closeSync(fd);
  }
}

/**
 * The server that holds the lock, undefined if sockets are not supported; or the process that already has the
 * lock.
 */
type Taken = { readonly server: Server | undefined } | { readonly pid: number | undefined };

async function take(folder: string, lock: string): Promise<Taken> {
  const own = `.${lock}-${process.pid}-${randomBytes(6).toString("hex")}`;
  const server = await listen(join(folder, own));
  if (server === undefined) return { server };
  const names = socketsOf(folder, lock);
  const others = names.filter((name) => name !== own);
  const living = await Promise.all(others.map((name) => answers(join(folder, name))));
  // A process that considered our socket dead, because we were not listening yet, was listening itself: so
  // either it has answered us, or it has removed our socket.
  const alive = others.find((_, i) => living[i]);
  if (alive !== undefined || !names.includes(own)) {
    server.close();
    return { pid: alive === undefined ? undefined : Number(restOf(alive, lock)![1]) };
  }
  for (const name of others) rmSync(join(folder, name), { force: true });
  return { server };
}

const restOf = (name: string, lock: string) =>
  name.startsWith(`.${lock}-`) ? REST.exec(name.slice(lock.length + 1)) : null;
const socketsOf = (folder: string, lock: string): string[] =>
  readdirSync(folder).filter((name) => restOf(name, lock) !== null);

function release(server: Server | undefined, fd: number): void {
  if (server === undefined) closeSync(fd);
  else server.close(() => closeSync(fd)); // closing removes the socket's name, which needs the descriptor
}

function listen(path: string): Promise<Server | undefined> {
  const server = createServer((visitor) => visitor.destroy()).unref();
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(path, () => resolve(server));
  });
}

/**
 * True if a process listens on the socket. Only a socket whose process has exited refuses connections; one
 * that we may not connect to counts as alive.
 */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const visitor = connect(path);
    visitor.once("connect", () => {
      visitor.destroy();
      resolve(true);
    });
    visitor.once("error", ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== "ECONNREFUSED" && code !== "ENOENT"),
    );
  });
}

function openFolder(dir: string): number {
  try {
    mkdirSync(dir, { recursive: true });
    return openSync(dir, "r");
  } catch (cause) {
    throw new HoneError("HONE_ERR_IO", `${dir} cannot be used: ${(cause as Error).message}`, {
      cause,
      // mkdir of a whole path reports ENOENT on a read-only file system
      hint: "Name a folder that you may write to, on a disk that is not mounted for reading only (--dir; createRun: dir).",
    });
  }
}

function taken(dir: string, what: string, pid: number | undefined): HoneError {
  return new HoneError("HONE_ERR_USAGE", `${dir} belongs to ${what} that is under way`, {
    details: { pid },
    hint: "Wait for it, stop it (in this process: dispose of it), or choose another folder.",
  });
}

/** True if a process of this machine holds the folder's lock now; false for a folder that cannot be read. */
export async function isLocked(dir: string): Promise<boolean> {
  let fd: number;
  try {
    fd = openSync(dir, "r");
  } catch {
    return false;
  }
  try {
    const folder = process.platform === "linux" ? `/proc/self/fd/${fd}` : dir;
    const names = socketsOf(folder, OF_FOLDER);
    return (await Promise.all(names.map((name) => answers(join(folder, name))))).includes(true);
  } finally {
    closeSync(fd);
  }
}
