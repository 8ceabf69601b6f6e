import { randomUUID } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Worker } from "node:worker_threads";
import { type Deferred, deferred } from "../../deferred.ts";
import { HoneError } from "../../errors.ts";
import { ownThread } from "../../own-module.ts";
import type { Arguments, Driver, Fence, OperationName, Result } from "../driver.ts";
import { StreamError } from "../stream-error.ts";
import type { Answer, Request, WorkerData } from "./orders.ts";

/** Streams of a run in a file, for the processes of one machine. */
export class SqliteDriver implements Driver {
  /** A change of the file is seen before it can be read, so that the first looks follow each other fast. */
  readonly pauseMs = { first: 2, most: 50 };
  readonly #worker: Worker;
  readonly #waiting = new Map<string, Deferred<unknown>>();
  readonly #watcher: FSWatcher | undefined;
  #tell: () => void = () => {};
  #end: HoneError | undefined;

  private constructor(path: string, worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: Answer) => this.#settle(answer));
    worker.on("error", (error) => this.#fail(new HoneError("HONE_ERR_IO", `${path}: ${error.message}`)));
    worker.on("exit", () => this.#fail(new HoneError("HONE_ERR_STATE", "the stream store is closed")));
    this.#watcher = watched(path, () => this.#tell());
  }

  /** Rejects with StreamError "lost", HONE_ERR_IO, HONE_ERR_FORMAT, HONE_ERR_USAGE where better-sqlite3 is missing. */
  static async open(file: string, run: string, mustExist: boolean): Promise<SqliteDriver> {
    const path = resolve(file);
    const worker = started({ path, run, mustExist });
    const driver = new SqliteDriver(path, worker);
    try {
      await driver.#answer("open");
      return driver;
    } catch (error) {
      await driver.close();
      throw error;
    }
  }

  async run<K extends OperationName>(name: K, args: Arguments<K>, fence?: Fence): Promise<Result<K>> {
    const id = randomUUID();
    const answer = this.#answer(id);
    this.#worker.postMessage({ id, name, args, fence } satisfies Request);
    return (await answer) as Result<K>;
  }

  onNews(listener: (topic: undefined) => void): void {
    this.#tell = () => listener(undefined);
  }

  async close(): Promise<void> {
    this.#watcher?.close();
    this.#fail(new HoneError("HONE_ERR_STATE", "the stream store is closed"));
    const ended = new Promise((done) => this.#worker.once("exit", done));
    this.#worker.postMessage("close" satisfies Request);
    if (this.#worker.threadId !== -1) await ended;
  }

  #answer(id: string): Promise<unknown> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    const answer = deferred<unknown>();
    this.#waiting.set(id, answer);
    return answer.promise;
  }

  #settle({ id, result, refusal, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (refusal !== undefined) waiting?.reject(new StreamError(refusal));
    else if (error !== undefined) waiting?.reject(rebuilt(error));
    else waiting?.resolve(result);
  }

  #fail(error: HoneError): void {
    this.#end ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#end);
    this.#waiting.clear();
  }
}

function rebuilt({ code, message, hint }: NonNullable<Answer["error"]>): HoneError {
  return new HoneError(code, message, hint === undefined ? {} : { hint });
}

/** Tells of every write of any process; without the system's help, the pauses have to do. */
function watched(path: string, tell: () => void): FSWatcher | undefined {
  const log = `${basename(path)}-wal`;
  try {
    const watcher = watch(dirname(path), (_, name) => {
      if (name === log) tell();
    });
    return watcher.on("error", () => {});
  } catch {
    return undefined;
  }
}

const started = (workerData: WorkerData): Worker => ownThread("worker", import.meta.url, { workerData });
