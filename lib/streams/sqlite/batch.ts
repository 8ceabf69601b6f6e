import { type Refusal, StreamError } from "../stream-error.ts";
import type { Bells } from "./bells.ts";
import { type Database, errorOf, type FileOfRun, inTransaction, isBusy } from "./database.ts";
import type { SqliteOperations } from "./operations.ts";
import type { Answer, Order } from "./orders.ts";

/** A file of streams that is written to. */
export interface OpenFile {
  readonly path: string;
  readonly database: Database;
  readonly operations: SqliteOperations;
  readonly file: FileOfRun;
  readonly bells: Bells;
}

/**
 * Does what was ordered in one transaction, and tells those who wait for it. Throws (database.ts, isBusy) where another
 * process is writing for longer than the database waits, and nothing was done.
 */
export function doTogether(open: OpenFile, orders: readonly Order[]): Answer[] {
  const { path, database, operations, file, bells } = open;
  operations.takeNews();
  try {
    file.expect();
    const answers = inTransaction(database, "IMMEDIATE", () => {
      const all = orders.map((order) => answerTo(open, order));
      operations.keepEnds();
      return all;
    });
    bells.ring(operations.takeNews());
    return answers;
  } catch (error) {
    operations.forgetEnds();
    if (isBusy(error)) throw error;
    return orders.map(({ id }) => ({ id, ...failure(path, error) }));
  }
}

/** What the store's content forbids concerns this order alone; a disk that is full concerns all of them. */
function answerTo({ path, operations }: OpenFile, { id, name, args, fence }: Order): Answer {
  try {
    return { id, result: operations.run(name, args, fence) };
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    return { id, ...failure(path, error) };
  }
}

/** Errors lose their class on the way to another thread. */
export function failure(path: string, error: unknown): Pick<Answer, "refusal" | "error"> {
  const known = errorOf(path, error);
  if (known instanceof StreamError) return { refusal: known.details as unknown as Refusal };
  const { code, message, hint } = known;
  return { error: { code, message, hint } };
}
