import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { basename, dirname } from "node:path";
import { SteadyClock } from "../../clock.ts";
import { HoneError } from "../../errors.ts";
import { answers, lockFolder } from "../../shared/files/folder-lock.ts";
import type { Arguments, Driver, Fence, OperationName, Result } from "../driver.ts";
import { MemoryDriver } from "../memory.ts";
import { StreamError } from "../stream-error.ts";
import { isSocketHere, nameOf, type SocketName, unixUrl } from "./address.ts";
import { FrameReader, sendFrame } from "./frames.ts";
import { type Answer, type Asked, failureOf, NEWS, OPENING, PROTOCOL } from "./messages.ts";

/** Umask that makes a socket accessible to its user only. */
const PRIVATE = 0o177;

/** Streams in this process's memory, which serves them to the machine's other processes at a socket. */
export class ServedDriver implements Driver {
  readonly pauseMs = { first: 60_000, most: 60_000 };
  readonly #clock = new SteadyClock();
  readonly #memory = new MemoryDriver(this.#clock);
  readonly #clients = new Set<Client>();
  readonly #server = createServer();
  readonly #lock: Disposable;
  #name: SocketName | undefined;
  #tell: (topic: string) => void = () => {};

  private constructor(path: string, run: string, lock: Disposable) {
    this.#lock = lock;
    this.#memory.onNews((topic) => {
      this.#tell(topic);
      for (const client of this.#clients) client.tell(topic);
    });
    this.#server.on("error", () => {}); // ignores errors of a connection that cannot be accepted: its client notices
    this.#server.on("connection", (socket) => {
      const client = new Client(socket, this.#memory, path, run);
      this.#clients.add(client);
      socket.once("close", () => this.#clients.delete(client));
    });
  }

  /**
   * Replaces the socket left by a killed process. Rejects with HONE_ERR_USAGE if another process serves at the path,
   * or the path is another kind of file; HONE_ERR_IO.
   */
  static async open(path: string, run: string): Promise<ServedDriver> {
    const lock = await lockSocket(path);
    const driver = new ServedDriver(path, run, lock);
    try {
      driver.#name = nameOf(path);
      if (isSocketHere(path)) await removeLeftover(path, driver.#name);
      await listen(driver.#server, path, driver.#name);
      return driver;
    } catch (error) {
      await driver.close();
      throw error;
    }
  }

  run<K extends OperationName>(name: K, args: Arguments<K>, fence?: Fence): Promise<Result<K>> {
    return this.#memory.run(name, args, fence);
  }

  onNews(listener: (topic: string) => void): void {
    this.#tell = listener;
  }

  /** Removes the socket. */
  async close(): Promise<void> {
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    for (const client of this.#clients) client.close();
    await closed;
    await this.#memory.close();
    this.#clock[Symbol.dispose]();
    this.#name?.[Symbol.dispose]();
    this.#lock[Symbol.dispose]();
  }
}

/** A connection. Operations are done in the order in which they arrive, each whole before the next, over all connections. */
class Client {
  readonly #socket: Socket;
  readonly #memory: MemoryDriver;
  readonly #path: string;
  readonly #run: string;
  /** Topics for which the client has requested a notification. */
  readonly #topics = new Set<string>();
  #isOpen = false;

  constructor(socket: Socket, memory: MemoryDriver, path: string, run: string) {
    this.#socket = socket.on("error", () => {}); // "close" follows
    this.#memory = memory;
    this.#path = path;
    this.#run = run;
    this.#serve().catch(() => socket.destroy()); // an invalid message ends the connection
  }

  tell(topic: string): void {
    if (this.#topics.delete(topic)) this.#send([NEWS, topic]);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Stops reading requests from a client that does not read its replies. */
  async #serve(): Promise<void> {
    const reader = new FrameReader();
    for await (const chunk of this.#socket)
      for (const asked of reader.read(chunk as Buffer)) {
        await this.#take(asked as Asked);
        if (this.#socket.writableNeedDrain) await once(this.#socket, "drain");
      }
  }

  async #take(asked: Asked): Promise<void> {
    const [id, what, more, fence] = asked;
    if (id === NEWS && this.#isOpen) {
      this.#topics.add(what as string);
      return;
    }
    try {
      if (!this.#isOpen) this.#open(asked);
      else
        this.#send([
          id,
          await this.#memory.run(what as OperationName, more as Arguments<OperationName>, fence),
        ]);
    } catch (error) {
      this.#send([id, null, failureOf(error)]);
    }
  }

  #open([id, protocol, run]: Asked): void {
    const found =
      protocol === PROTOCOL
        ? `the process that serves ${this.#path} holds run ${this.#run}`
        : `${this.#path} is served by another version of this package`;
    this.#isOpen = id === OPENING && protocol === PROTOCOL && run === this.#run;
    if (!this.#isOpen) throw new StreamError({ why: "lost", about: String(run), found });
    this.#send([OPENING, null]);
  }

  #send(answer: Answer): void {
    sendFrame(this.#socket, answer);
  }
}

/** Locks the path against a second process that starts at the same time and finds the same leftover. */
async function lockSocket(path: string): Promise<Disposable> {
  try {
    return await lockFolder(dirname(path), "a stream store", `${basename(path)}.store`);
  } catch (error) {
    if (!HoneError.is(error) || error.code !== "HONE_ERR_USAGE") throw error;
    const who = error.details["pid"] ?? "another one";
    throw new HoneError("HONE_ERR_USAGE", `${unixUrl(path)} is served by process ${who}, which is alive`, {
      hint: "Wait for its run or end it, or give this one another path.",
      cause: error,
    });
  }
}

/**
 * Removes the socket of a killed process. No process of this package serves there, since it would hold the
 * lock.
 */
async function removeLeftover(path: string, { name }: SocketName): Promise<void> {
  if (await answers(name))
    throw new HoneError("HONE_ERR_USAGE", `another program listens at ${path}`, {
      hint: "Name a path at which no file exists.",
    });
  rmSync(path);
}

async function listen(server: Server, path: string, { name }: SocketName): Promise<void> {
  const failed = new Promise<never>((_, reject) => server.once("error", reject));
  const listening = new Promise<void>((done) => server.once("listening", done));
  const before = process.umask(PRIVATE);
  try {
    server.listen(name); // the socket exists when this call returns
  } finally {
    process.umask(before);
  }
  await Promise.race([listening, failed]).catch((cause: Error) => {
    throw new HoneError("HONE_ERR_IO", `${unixUrl(path)} cannot be served: ${cause.message}`, {
      hint: "Name a path on a local disk, in a folder that you may write to.",
      cause,
    });
  });
}
