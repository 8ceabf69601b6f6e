import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { HoneError } from "../errors.ts";

/** The address by which a run brings a server of its own. */
export const OWN_REDIS = "redis-server";
const PID_FILE = "redis.pid";
const READY = "Ready to accept connections";
/** Ports of which somebody else took each between its choice and the server's start. */
const MOST_PORTS = 5;
const TAKEN = /address already in use/i;

/** A Redis server of this run alone, at 127.0.0.1, that keeps every write before it answers. */
export class OwnRedis implements AsyncDisposable {
  readonly url: string;
  readonly #port: number;
  readonly #dir: string;
  readonly #killNow = () => void this.#process?.kill("SIGKILL");
  #process: ChildProcess | undefined;
  #closed = false;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(port: number, dir: string) {
    this.url = `redis://127.0.0.1:${port}`;
    this.#port = port;
    this.#dir = dir;
    process.prependOnceListener("exit", this.#killNow); // before the folder goes that it writes to
  }

  /** Rejects with HONE_ERR_USAGE where redis-server is not installed, HONE_ERR_IO where it does not start. */
  static async start(dir: string, choosePort = freePort): Promise<OwnRedis> {
    mkdirSync(dir, { recursive: true });
    for (let tried = 1; ; tried++) {
      const server = new OwnRedis(await choosePort(), dir);
      try {
        await server.#begin();
        return server;
      } catch (error) {
        await server[Symbol.asyncDispose]();
        if (tried === MOST_PORTS || !TAKEN.test((error as Error).message)) throw error;
      }
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
    const pidFile = ["--pidfile", join(this.#dir, PID_FILE)];
    const place = ["--bind", "127.0.0.1", "--port", String(this.#port), "--dir", this.#dir, ...pidFile];
    const child = spawn("redis-server", [...place, ...kept], {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true, // an interrupt from the terminal is for the run, which needs its store to save a checkpoint
    });
    this.#process = child;
    const missing = once(child, "error").then(() => "it is not there: apt-get install redis-server");
    const why = await Promise.race([missing, readiness(child)]);
    if (why !== undefined) throw new HoneError("HONE_ERR_USAGE", `redis-server does not start: ${why}`);
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
    if (!said.includes(READY)) continue;
    child.stdout!.resume();
    return undefined;
  }
  return said.trim().split("\n").slice(-3).join("; ");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
