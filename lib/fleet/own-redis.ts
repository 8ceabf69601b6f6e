import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import { socketUrl } from "../streams/index.ts";

/** The address by which a run brings a server of its own. */
export const OWN_REDIS = "redis-server";
const PID_FILE = "redis.pid";
const SOCKET = "redis.sock";
/** Redis 7.0 writes it otherwise for a socket than for a port. */
const READY = /ready to accept connections/i;

/**
 * A Redis server of this run alone, that keeps every write before it answers. It listens at a Unix socket in a folder that
 * no other user may enter, and at no port.
 */
export class OwnRedis implements AsyncDisposable {
  readonly url: string;
  readonly #dir: string;
  readonly #killNow = () => void this.#process?.kill("SIGKILL");
  #process: ChildProcess | undefined;
  #closed = false;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(dir: string) {
    this.url = socketUrl(join(dir, SOCKET));
    this.#dir = dir;
    process.prependOnceListener("exit", this.#killNow); // before the folder goes that it writes to
  }

  /**
   * Rejects with HONE_ERR_USAGE where redis-server is not installed, or the path is too long for a Unix socket; HONE_ERR_IO
   * where it does not start. @param dir closed to other users from here on
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

  /** Kills it and starts it again, after so long, with what its file has; one restart after another. */
  restart(afterMs: number): Promise<void> {
    const done = this.#turn.then(() => this.#restart(afterMs));
    this.#turn = done.catch(() => {});
    return done;
  }

  async #restart(afterMs: number): Promise<void> {
    await this.#kill();
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    if (!this.#closed) await this.#begin();
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
    const missing = once(child, "error").then(([cause]) => {
      const hint = "apt-get install redis-server, or leave --store out for a file";
      throw new HoneError("HONE_ERR_USAGE", "redis-server does not start: it is not installed", {
        cause,
        hint,
      });
    });
    const why = await Promise.race([missing, readiness(child)]);
    if (why !== undefined) throw new HoneError("HONE_ERR_IO", `redis-server does not start: ${why}`);
  }

  async #kill(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}

/** Ends the server of a run that was killed, and could not do so itself. @param dir of that server */
export function endLeftServer(dir: string): void {
  try {
    const pid = Number(readFileSync(join(dir, PID_FILE), "utf8"));
    // the number may be another process's by now
    if (readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dir)) process.kill(pid, "SIGKILL");
  } catch {
    // it had none, or that has ended
  }
}

/** Undefined once it is ready; what it said where it ends before. */
async function readiness(child: ChildProcess): Promise<string | undefined> {
  let said = "";
  for await (const chunk of child.stdout!) {
    said += String(chunk);
    if (!READY.test(said)) continue;
    child.stdout!.resume();
    return undefined;
  }
  return said.trim().split("\n").slice(-3).join("; ");
}
