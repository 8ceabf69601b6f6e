import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoneError } from "../errors.ts";
import { lockFolder } from "../shared/files/folder-lock.ts";
import { socketUrl } from "../streams/index.ts";

const PREFIX = "hone-fleet-";
/** Subfolder for the fleet's own Redis server. */
export const OWN_SERVER = "redis";
/** Name of the socket at which the fleet's coordinator serves its store. */
export const OWN_SOCKET = "store.sock";
/** File with the process id of the coordinator; the folder is removed with that process. */
const OWNER = "coordinator";

/** A fleet's private folder: its store, logs and weights in transfer. */
export interface OwnFolder {
  readonly path: string;
  /** @param keep leaves the folder for readers of the logs */
  close(keep: boolean): void;
}

/** Creates a folder that is removed when this process exits; removes folders of killed coordinators and stops their servers. */
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

/** Retries, because processes that were just killed may still be writing a file. */
function removeAtExit(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {
    // the next fleet that starts removes the folder
  }
}

/** A folder without an owner's process id was kept on purpose, or is being created. */
async function removeStale(folder: string): Promise<void> {
  const owner = join(folder, OWNER);
  try {
    if (!existsSync(owner) || isAlive(Number(readFileSync(owner, "utf8")))) return;
    using _ = await lockFolder(folder, "a fleet");
    endLeftServer(join(folder, OWN_SERVER));
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // the folder belongs to another live process, or this process may not remove it
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Store address that makes a run start its own Redis server. */
export const OWN_REDIS = "redis-server";
const PID_FILE = "redis.pid";
const SOCKET = "redis.sock";
/** Line of Redis's log that says it is ready; Redis 7.0 words it differently for a socket and for a port. */
const READY = /ready to accept connections/i;
/** Characters of the server's log that a message quotes. */
const MOST_LOG = 4096;
/** Consecutive exits without a period of service after which the server is not restarted. */
const MOST_RESTARTS = 5;
const LONG_ENOUGH_MS = 30_000;
const FIRST_PAUSE_MS = 100;

export interface OwnRedisWatch {
  /** Gets a line each time the server ended unexpectedly. */
  readonly say: (line: string) => void;
  /** Called with HONE_ERR_IO when the server is given up after too many restarts. */
  readonly onFailure: (error: HoneError) => void;
}

/**
 * A private Redis server of this run that persists every write before it replies. It listens on a Unix socket in a
 * folder that other users cannot enter, and on no port.
 */
export class OwnRedis implements AsyncDisposable {
  readonly url: string;
  readonly #dir: string;
  readonly #killNow = () => void this.#process?.kill("SIGKILL");
  /** The server's process; undefined while the server is being stopped on purpose. */
  #process: ChildProcess | undefined;
  #watch: OwnRedisWatch | undefined;
  #log = "";
  #startedMs = 0;
  #inARow = 0;
  #closed = false;

  private constructor(dir: string) {
    this.url = socketUrl(join(dir, SOCKET));
    this.#dir = dir;
    process.prependOnceListener("exit", this.#killNow); // kills the server before the exit handler removes its folder
  }

  /**
   * Rejects with HONE_ERR_USAGE if redis-server is not installed, or the path is too long for a Unix socket;
   * HONE_ERR_IO if it does not start. @param dir the server's folder, which is then closed to other users
   */
  static async start(dir: string): Promise<OwnRedis> {
    const server = new OwnRedis(dir);
    try {
      mkdirSync(dir, { recursive: true });
      chmodSync(dir, 0o700);
      await server.#begin();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** From now on, restarts a server that exits unexpectedly, with the data in its file. */
  watch(watch: OwnRedisWatch): void {
    this.#watch = watch;
    const child = this.#process!;
    if (hasEnded(child)) this.#ended(child);
  }

  #ended(child: ChildProcess): void {
    const watch = this.#watch;
    if (watch === undefined || child !== this.#process || this.#closed) return;
    void this.#startAgain(child, watch);
  }

  async #startAgain(child: ChildProcess, { say, onFailure }: OwnRedisWatch): Promise<void> {
    if (performance.now() - this.#startedMs > LONG_ENOUGH_MS) this.#inARow = 0;
    const how = child.signalCode ? `by ${child.signalCode}` : `with exit code ${child.exitCode}`;
    for (let why = how; ; ) {
      this.#inARow += 1;
      if (this.#inARow > MOST_RESTARTS) return onFailure(this.#givenUp(why));
      say(`the run's own Redis server ended ${why}; starting it again from its append-only file`);
      await sleep(FIRST_PAUSE_MS * 2 ** (this.#inARow - 1), undefined, { ref: false });
      if (this.#closed) return;
      try {
        return await this.#begin();
      } catch (error) {
        if (this.#closed) return;
        why = `at its start (${(error as Error).message})`;
      }
    }
  }

  #givenUp(why: string): HoneError {
    return new HoneError(
      "HONE_ERR_IO",
      `the run's own Redis server ended ${this.#inARow} times in a row, the last time ${why}, and is not started again; its log ends with:\n  ${lastLines(this.#log, "\n  ")}`,
      {
        hint: "Free memory, and disk space for the server's file in the temporary folder; then continue from the checkpoint with --resume.",
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    process.removeListener("exit", this.#killNow);
    await this.#kill();
  }

  async #begin(): Promise<void> {
    const kept = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
    const place = ["--port", "0", "--unixsocket", join(this.#dir, SOCKET), "--unixsocketperm", "700"];
    const files = ["--dir", this.#dir, "--pidfile", join(this.#dir, PID_FILE)];
    const child = spawn("redis-server", [...place, ...files, ...kept], {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true, // an interrupt from the terminal is for the run, which needs its store to save a checkpoint
    });
    this.#process = child;
    this.#log = "";
    await Promise.race([missing(child), this.#readiness(child)]);
    this.#startedMs = performance.now();
    child.once("exit", () => this.#ended(child));
    if (hasEnded(child)) this.#ended(child);
  }

  /** Rejects with HONE_ERR_IO if the server exits before it is ready. */
  #readiness(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      child.stdout!.on("data", (chunk) => {
        this.#log = (this.#log + chunk).slice(-MOST_LOG);
        if (READY.test(this.#log)) resolve();
      });
      child.stdout!.once("end", () => {
        const why = `redis-server does not start: ${lastLines(this.#log, "; ")}`;
        setImmediate(() => reject(new HoneError("HONE_ERR_IO", why))); // deferred: for a missing program "error" comes too
      });
    });
  }

  async #kill(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined || hasEnded(child)) return;
    this.#process = undefined;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

/** Rejects with HONE_ERR_USAGE, because the program is not installed. */
async function missing(child: ChildProcess): Promise<never> {
  const [cause] = await once(child, "error");
  throw new HoneError("HONE_ERR_USAGE", "redis-server does not start: it is not installed", {
    cause,
    hint: "apt-get install redis-server, or leave --store out: the run then serves its store itself",
  });
}

const lastLines = (text: string, between: string): string => text.trim().split("\n").slice(-3).join(between);

/** Ends the Redis server that a killed run left running. @param dir folder of that server */
export function endLeftServer(dir: string): void {
  try {
    const pid = Number(readFileSync(join(dir, PID_FILE), "utf8"));
    // the process id may have been reused
    if (readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dir)) process.kill(pid, "SIGKILL");
  } catch {
    // no server was running, or the server has ended already
  }
}
