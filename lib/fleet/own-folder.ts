import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockFolder } from "../folder-lock.ts";
import { endLeftServer } from "./own-redis.ts";

const PREFIX = "hone-fleet-";
/** In such a folder, of a Redis server that is the fleet's own. */
export const OWN_SERVER = "redis";
/** In such a folder, where the fleet's coordinator serves its store. */
export const OWN_SOCKET = "store.sock";
/** In a folder that goes with its coordinator: the number of that process. */
const OWNER = "coordinator";

/** A folder of one fleet: its store, logs and weights on their way. */
export interface OwnFolder {
  readonly path: string;
  /** @param keep leaves the folder for readers of the logs */
  close(keep: boolean): void;
}

/** Makes one, which goes with this process at the latest, and removes those whose coordinators were killed, with their servers. */
export async function openOwnFolder(): Promise<OwnFolder> {
  const root = tmpdir();
  for (const name of readdirSync(root)) if (name.startsWith(PREFIX)) await removeStale(join(root, name));
  const path = mkdtempSync(join(root, PREFIX));
  const lock = await lockFolder(path, "a fleet");
  writeFileSync(join(path, OWNER), String(process.pid));
  const removeNow = () => removeAtExit(path);
  process.once("exit", removeNow);
  return {
    path,
    close: (keep) => {
      process.removeListener("exit", removeNow);
      rmSync(keep ? join(path, OWNER) : path, { recursive: true, force: true });
      lock[Symbol.dispose]();
    },
  };
}

/** Processes that were killed a moment ago may still have a file on the way into it. */
function removeAtExit(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {
    // the next fleet removes it
  }
}

/** One that has no owner's number was kept on purpose, or is being made. */
async function removeStale(folder: string): Promise<void> {
  const owner = join(folder, OWNER);
  try {
    if (!existsSync(owner) || isAlive(Number(readFileSync(owner, "utf8")))) return;
    using _ = await lockFolder(folder, "a fleet");
    endLeftServer(join(folder, OWN_SERVER));
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // another live process's folder, or one that this process may not remove
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
