import { connect, type Socket } from "node:net";
import { HoneError } from "../../errors.ts";
import { type Deferred, deferred } from "../../shared/async/deferred.ts";
import type { Arguments, Driver, Fence, OperationName, Result } from "../driver.ts";
import { isSocketHere, nameOf, unixUrl } from "./address.ts";
import { FrameReader, sendFrame } from "./frames.ts";
import { type Answer, type Asked, errorOf, NEWS, OPENING, PROTOCOL } from "./messages.ts";

/** Limit for a server that is reachable and does not answer, counted while this process itself runs. */
const PATIENCE_SECONDS = 60;
/** Time to flush the last message. */
const CLOSING_MS = 1_000;

/** Streams served by another process of this machine (served.ts). They end with that process, and so does this connection. */
export class SocketDriver implements Driver {
  /** An intact connection loses no notification. */
  readonly pauseMs = { first: 60_000, most: 60_000 };
  readonly #path: string;
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #waiting = new Map<number, Deferred<unknown>>();
  /** Topics for which a notification is pending. */
  readonly #topics = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #silentSeconds = 0;
  #last = OPENING;
  #tell: (topic: string | undefined) => void = () => {};
  #end: HoneError | undefined;

  private constructor(path: string, socket: Socket, patienceSeconds: number) {
    this.#path = path;
    this.#socket = socket;
    socket.on("error", () => {}); // "close" follows
    socket.on("data", (chunk) => this.#read(chunk));
    socket.once("close", () => this.#fail(outage(path, "the process that served it is gone")));
    this.#timer = setInterval(() => this.#look(patienceSeconds), 1_000).unref();
  }

  /** Rejects with HONE_ERR_IO if no process serves at the path, StreamError "lost" if it serves another run. */
  static async open(path: string, run: string, patienceSeconds = PATIENCE_SECONDS): Promise<SocketDriver> {
    if (!isSocketHere(path)) throw outage(path, "no process serves it");
    const driver = new SocketDriver(path, await connected(path), patienceSeconds);
    try {
      await driver.#ask([OPENING, PROTOCOL, run]);
      return driver;
    } catch (error) {
      await driver.close();
      throw error;
    }
  }

  run<K extends OperationName>(name: K, args: Arguments<K>, fence?: Fence): Promise<Result<K>> {
    const asked = [++this.#last, name, args] as const;
    return this.#ask(fence === undefined ? asked : [...asked, fence]) as Promise<Result<K>>;
  }

  onNews(listener: (topic: string | undefined) => void): void {
    this.#tell = listener;
  }

  attend(topic: string): void {
    if (this.#end !== undefined || this.#topics.has(topic)) return;
    this.#topics.add(topic);
    sendFrame(this.#socket, [NEWS, topic] satisfies Asked);
  }

  /** Waits for operations in progress, if the server is reachable. */
  async close(): Promise<void> {
    this.#fail(new HoneError("HONE_ERR_STATE", "the stream store is closed"));
    if (this.#socket.closed) return;
    const closed = new Promise((done) => this.#socket.once("close", done));
    const timer = setTimeout(() => this.#socket.destroy(), CLOSING_MS);
    this.#socket.end();
    await closed;
    clearTimeout(timer);
  }

  async #ask(asked: Asked): Promise<unknown> {
    if (this.#end !== undefined) throw this.#end;
    sendFrame(this.#socket, asked);
    const answer = deferred<unknown>();
    this.#waiting.set(asked[0], answer);
    return answer.promise;
  }

  #read(chunk: Uint8Array): void {
    this.#silentSeconds = 0;
    try {
      for (const answer of this.#reader.read(chunk)) this.#take(answer as Answer);
    } catch (error) {
      this.#fail(outage(this.#path, (error as Error).message, error));
      this.#socket.destroy();
    }
  }

  #take([id, result, failure]: Answer): void {
    if (id === NEWS) {
      this.#topics.delete(result as string);
      this.#tell(result as string);
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failure === undefined) waiting?.resolve(result);
    else waiting?.reject(errorOf(failure));
  }

  #look(patienceSeconds: number): void {
    this.#silentSeconds = this.#waiting.size === 0 ? 0 : this.#silentSeconds + 1;
    if (this.#silentSeconds <= patienceSeconds) return;
    this.#fail(outage(this.#path, `the process that serves it has not answered for ${patienceSeconds} s`));
    this.#socket.destroy();
  }

  #fail(error: HoneError): void {
    this.#end ??= error;
    clearInterval(this.#timer);
    for (const waiting of this.#waiting.values()) waiting.reject(this.#end);
    this.#waiting.clear();
    this.#tell(undefined); // waiting readers ask once more, and are refused
  }
}

async function connected(path: string): Promise<Socket> {
  using at = nameOf(path);
  const socket = connect(at.name);
  return await new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(socket));
    socket.once("error", (cause: NodeJS.ErrnoException) => {
      const why =
        cause.code === "ECONNREFUSED" || cause.code === "ENOENT" ? "no process serves it" : cause.message;
      reject(outage(path, why, cause));
    });
  });
}

const outage = (path: string, why: string, cause?: unknown): HoneError =>
  new HoneError("HONE_ERR_IO", `${unixUrl(path)}: ${why}`, {
    hint: "The process that coordinates the run serves its store: is the run under way?",
    cause,
  });
