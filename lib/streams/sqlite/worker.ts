/** The thread that works on a file of streams, so that its waits for the disk and for other processes keep nobody. */
import { statSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { HoneError } from "../../errors.ts";
import { type Refusal, StreamError } from "../stream-error.ts";
import { type Database, inTransaction, ioError, isBusy, openDatabase, PATIENCE_MS } from "./database.ts";
import { SqliteOperations } from "./operations.ts";
import type { Answer, Order, Request, WorkerData } from "./orders.ts";

const { path, run, mustExist } = workerData as WorkerData;
const port = parentPort!;
let orders: Order[] = [];
/** Since when another process has not let this one write. */
let busySinceMs: number | undefined;
/** Of one wait for another process's writes, during which the thread does nothing else, and until the next. */
const TRY_MS = 100;
const PAUSE_MS = 10;

try {
  const database = await openDatabase(path);
  inTransaction(database, "IMMEDIATE", () => recognize(database));
  database.pragma(`busy_timeout = ${TRY_MS}`);
  const file = statSync(path).ino;
  const operations = new SqliteOperations(database);
  port.on("message", (request: Request) => {
    if (request === "close") {
      orders = [];
      database.close();
      port.close();
      return;
    }
    // All that has come by then goes into one transaction, and so to the disk at once.
    if (orders.length === 0) setImmediate(() => work(database, operations, file));
    orders.push(request);
  });
  port.postMessage({ id: "open" } satisfies Answer);
} catch (error) {
  port.postMessage({ id: "open", ...failure(error) } satisfies Answer);
  port.close();
}

/** Throws StreamError "lost" where the file is not this run's. */
function recognize(database: Database): void {
  const read = database.prepare("SELECT value FROM meta WHERE name = ?");
  const known = (read.get("run") as { value: string } | undefined)?.value;
  if (known === run) return;
  if (known !== undefined || mustExist) {
    const found = known === undefined ? `${path} has nothing of it` : `${path} is of run ${known}`;
    throw new StreamError({ why: "lost", about: run, found });
  }
  database.prepare("INSERT INTO meta VALUES('run', ?)").run(run);
}

function work(database: Database, operations: SqliteOperations, file: number): void {
  const batch = orders;
  orders = [];
  if (batch.length === 0) return; // closed meanwhile
  try {
    if (statSync(path, { throwIfNoEntry: false })?.ino !== file)
      throw new StreamError({ why: "lost", about: run, found: `${path} was deleted or exchanged` });
    for (const answer of answersTo(database, operations, batch)) port.postMessage(answer);
    busySinceMs = undefined;
  } catch (error) {
    busySinceMs ??= performance.now();
    if (isBusy(error) && performance.now() - busySinceMs < PATIENCE_MS) {
      orders = lookOnly(database, operations, batch);
      setTimeout(() => work(database, operations, file), PAUSE_MS);
      return;
    }
    busySinceMs = undefined;
    for (const order of batch) port.postMessage({ id: order.id, ...failure(error) } satisfies Answer);
  }
}

/**
 * Answers what only looks, which needs no lock, and returns the rest: a process that is stopped in the middle of a write
 * holds up the others' writes, and they must see that it gives no sign of life any more.
 */
function lookOnly(database: Database, operations: SqliteOperations, batch: readonly Order[]): Order[] {
  const writes = (order: Order) => operations.writes(order.name, order.args);
  const looks = batch.filter((order) => !writes(order));
  const answers = inTransaction(database, "DEFERRED", () =>
    looks.map((order) => answerTo(operations, order)),
  );
  for (const answer of answers) port.postMessage(answer);
  return batch.filter(writes);
}

/** A batch that only looks does not take the lock that one process at a time has. */
function answersTo(database: Database, operations: SqliteOperations, batch: readonly Order[]): Answer[] {
  const all = () => batch.map((order) => answerTo(operations, order));
  const looked = inTransaction(database, "DEFERRED", () =>
    batch.some(({ name, args }) => operations.writes(name, args)) ? undefined : all(),
  );
  return looked ?? inTransaction(database, "IMMEDIATE", all);
}

/** What the store's content forbids concerns this order alone; a disk that is full concerns the batch. */
function answerTo(operations: SqliteOperations, { id, name, args, fence }: Order): Answer {
  try {
    return { id, result: operations.run(name, args, fence) };
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    return { id, ...failure(error) };
  }
}

/** Errors lose their class on the way to another thread. */
function failure(error: unknown): Pick<Answer, "refusal" | "error"> {
  if (error instanceof StreamError) return { refusal: error.details as unknown as Refusal };
  const { code, message, hint } = HoneError.is(error) ? error : ioError(path, error);
  return { error: { code, message, hint } };
}
