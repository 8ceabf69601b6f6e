import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type StreamStore } from "../../../lib/streams/index.ts";
import type { DriverUnderTest, Place } from "../place.ts";

const isThere = spawnSync("redis-server", ["--version"]).status === 0;
/** Why Redis cannot be tested here; undefined if it can. */
export const noRedis = isThere ? undefined : "no redis-server: apt-get install redis-server";

const READY = "Ready to accept connections";

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A real server with its own folder and port that writes every change to disk before it answers. */
export class RedisServer implements AsyncDisposable {
  readonly port: number;
  readonly dir = mkdtempSync(join(tmpdir(), "hone-redis-"));
  readonly #options: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;

  private constructor(port: number, options: readonly string[], env: NodeJS.ProcessEnv) {
    this.port = port;
    this.#options = options;
    this.#env = env;
  }

  static async start(
    options: readonly string[] = [],
    port?: number,
    env: NodeJS.ProcessEnv = {},
  ): Promise<RedisServer> {
    for (let attempt = 1; ; attempt++) {
      const server = new RedisServer(port ?? (await freePort()), options, env);
      try {
        await server.restart();
        return server;
      } catch (error) {
        rmSync(server.dir, { recursive: true, force: true });
        // another program may have taken the free port
        if (port !== undefined || attempt === 3 || !/Address already in use/.test(`${error}`)) throw error;
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the server again after `kill`, with the contents of its append-only file. */
  async restart(): Promise<void> {
    const fixed = ["--bind", "127.0.0.1", "--dir", this.dir, "--save", "", "--appendfsync", "always"];
    const own = this.#options.includes("--port") ? [] : ["--port", String(this.port)];
    const kept = this.#options.includes("--appendonly") ? [] : ["--appendonly", "yes"];
    const child = spawn("redis-server", [...own, ...fixed, ...kept, ...this.#options], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...this.#env },
    });
    this.#process = child;
    let out = "";
    for await (const chunk of child.stdout!) {
      out += String(chunk);
      if (out.includes(READY)) break;
    }
    if (!out.includes(READY)) throw new Error(`redis-server does not start: ${out}`);
    child.stdout!.resume();
  }

  signal(name: NodeJS.Signals): void {
    this.#process!.kill(name);
  }

  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** All tests share one server; each has its own run. */
export function redisUnderTest(server: () => RedisServer): DriverUnderTest {
  let runs = 0;
  return {
    name: "redis",
    skipped: noRedis,
    place: async (): Promise<Place> => {
      const run = `run-${++runs}`;
      const opened: StreamStore[] = [];
      return {
        open: async () => {
          const store = await openStore(server().url, { run });
          opened.push(store);
          return store;
        },
        [Symbol.asyncDispose]: async () => {
          for (const store of opened) await store.close();
        },
      };
    },
  };
}
