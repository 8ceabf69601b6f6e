/** The thread that writes to a file of streams, so that its waits for the disk and for other processes keep nobody. */
import { parentPort, workerData } from "node:worker_threads";
import { StreamError } from "../stream-error.ts";
import { doTogether, failure, type OpenFile } from "./batch.ts";
import { Bells } from "./bells.ts";
import { type Database, FileOfRun, inTransaction, openDatabase, PATIENCE_MS } from "./database.ts";
import { SqliteOperations } from "./operations.ts";
import { type Answer, OPENING, type Order, type Request, type WorkerData } from "./orders.ts";

const { path, run, mustExist, synchronous } = workerData as WorkerData;
const port = parentPort!;
let orders: Order[] = [];
/** Since when another process has not let this one write. */
let busySinceMs: number | undefined;
/** Of one wait for another process's writes, during which the thread does nothing else, and until the next. */
const TRY_MS = 100;
const PAUSE_MS = 10;

try {
  const database = await openDatabase(path, synchronous);
  inTransaction(database, "IMMEDIATE", () => recognize(database));
  database.pragma(`busy_timeout = ${TRY_MS}`);
  const operations = new SqliteOperations(database);
  const open = { path, database, operations, file: new FileOfRun(path, run), bells: new Bells(path) };
  port.on("message", (request: Request) => {
    if (request === "close") {
      orders = [];
      database.close();
      open.bells.close();
      port.close();
      return;
    }
    // All that has come by then goes into one transaction, and so to the disk at once.
    if (orders.length === 0) setImmediate(() => work(open));
    orders.push(...request);
  });
  port.postMessage([{ id: OPENING }] satisfies Answer[]);
} catch (error) {
  port.postMessage([{ id: OPENING, ...failure(path, error) }] satisfies Answer[]);
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

/** What is ordered while another process keeps the lock waits with what was; closing the thread waits for neither. */
function work(open: OpenFile): void {
  const batch = orders;
  if (batch.length === 0) return; // closed meanwhile
  const answers = attempt(open, batch);
  if (answers === "later") {
    setTimeout(() => work(open), PAUSE_MS);
    return;
  }
  orders = [];
  port.postMessage(answers);
}

function attempt(open: OpenFile, batch: readonly Order[]): Answer[] | "later" {
  try {
    const answers = doTogether(open, batch);
    busySinceMs = undefined;
    return answers;
  } catch (error) {
    busySinceMs ??= performance.now();
    if (performance.now() - busySinceMs < PATIENCE_MS) return "later";
    busySinceMs = undefined;
    return batch.map(({ id }) => ({ id, ...failure(path, error) }));
  }
}
