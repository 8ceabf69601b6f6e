import { resolve } from "node:path";
import type { Worker } from "node:worker_threads";
import { type Deferred, deferred } from "../../deferred.ts";
import { HoneError } from "../../errors.ts";
import { ownThread } from "../../own-module.ts";
import type { Arguments, Driver, Fence, OperationName, Result } from "../driver.ts";
import { StreamError } from "../stream-error.ts";
import { Bells } from "./bells.ts";
import type { Synchronous } from "./database.ts";
import { type Answer, OPENING, type Order, type Request, type WorkerData } from "./orders.ts";
import { OwnThread } from "./own-thread.ts";

/** Where nobody tells of news. */
const UNTOLD_MS = { first: 2, most: 50 };

/** Streams of a run in a file, for the processes of one machine. */
export class SqliteDriver implements Driver {
  /** For what a process did not tell any more because it was killed. */
  readonly pauseMs = { first: 250, most: 1_000 };
  readonly #path: string;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Deferred<unknown>>();
  #own: OwnThread | undefined;
  #bells: Bells | undefined;
  /** Of this turn of the event loop. */
  #orders: Order[] = [];
  /** Orders that the thread has not answered: those that follow them come after them. */
  #owed = 0;
  #last = OPENING;
  #tell: (topic: string) => void = () => {};
  #end: HoneError | undefined;

  private constructor(path: string, worker: Worker) {
    this.#path = path;
    this.#worker = worker;
    worker.on("message", (answers: readonly Answer[]) => {
      this.#owed -= answers.length;
      for (const answer of answers) this.#settle(answer);
    });
    worker.on("error", (error) => this.#fail(new HoneError("HONE_ERR_IO", `${path}: ${error.message}`)));
    worker.on("exit", () => this.#fail(closed()));
  }

  /** Rejects with StreamError "lost", HONE_ERR_IO, HONE_ERR_FORMAT, HONE_ERR_USAGE where better-sqlite3 is missing. */
  static async open(
    file: string,
    run: string,
    mustExist: boolean,
    synchronous: Synchronous = "FULL",
  ): Promise<SqliteDriver> {
    const path = resolve(file);
    const driver = new SqliteDriver(path, started({ path, run, mustExist, synchronous }));
    try {
      driver.#owed = 1;
      await driver.#answer(OPENING);
      driver.#own = await OwnThread.at(path, run, synchronous);
      return driver;
    } catch (error) {
      await driver.close();
      throw error;
    }
  }

  async run<K extends OperationName>(name: K, args: Arguments<K>, fence?: Fence): Promise<Result<K>> {
    if (this.#end !== undefined) throw this.#end;
    const looked = this.#own!.look(name, args, fence);
    if (looked !== undefined) return looked.result;
    const id = ++this.#last;
    const answer = this.#answer(id);
    if (this.#orders.length === 0) setImmediate(() => this.#send());
    this.#orders.push({ id, name, args, fence });
    return (await answer) as Result<K>;
  }

  onNews(listener: (topic: string) => void): void {
    this.#tell = listener;
  }

  attend(topic: string): void {
    if (this.#end !== undefined) return;
    try {
      this.#bells ??= new Bells(this.#path);
      this.#bells.watch(topic, (each) => this.#tell(each));
    } catch {
      Object.assign(this.pauseMs, UNTOLD_MS);
    }
  }

  async close(): Promise<void> {
    this.#bells?.close();
    this.#send();
    this.#fail(closed());
    this.#own?.close();
    this.#own = undefined;
    const ended = new Promise((done) => this.#worker.once("exit", done));
    this.#worker.postMessage("close" satisfies Request);
    if (this.#worker.threadId !== -1) await ended;
  }

  #send(): void {
    const orders = this.#orders;
    if (orders.length === 0) return;
    this.#orders = [];
    const answers = this.#owed === 0 ? this.#own?.write(orders) : undefined;
    for (const answer of answers ?? []) this.#settle(answer);
    if (answers !== undefined) return;
    this.#owed += orders.length;
    this.#worker.postMessage(orders satisfies Request);
  }

  #answer(id: number): Promise<unknown> {
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

const closed = (): HoneError => new HoneError("HONE_ERR_STATE", "the stream store is closed");

function rebuilt({ code, message, hint }: NonNullable<Answer["error"]>): HoneError {
  return new HoneError(code, message, hint === undefined ? {} : { hint });
}

const started = (workerData: WorkerData): Worker => ownThread("worker", import.meta.url, { workerData });
