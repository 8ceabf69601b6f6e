import type { Arguments, Fence, OperationName, Result } from "../driver.ts";
import { doTogether, type OpenFile } from "./batch.ts";
import { Bells } from "./bells.ts";
import { errorOf, FileOfRun, inTransaction, isBusy, openWithoutWaits, type Synchronous } from "./database.ts";
import { SqliteOperations } from "./operations.ts";
import type { Answer, Order } from "./orders.ts";

const MAY_LOOK: ReadonlySet<OperationName> = new Set(["read", "depth", "get", "list", "lease"]);

/**
 * What is done in the caller's thread, because it waits neither for the disk nor for who writes: operations that change
 * nothing, and, where nothing has to reach the disk, the others while nobody else writes.
 */
export class OwnThread {
  readonly #open: OpenFile;
  readonly #synchronous: Synchronous;

  private constructor(open: OpenFile, synchronous: Synchronous) {
    this.#open = open;
    this.#synchronous = synchronous;
  }

  /** Of a file that has its tables. */
  static async at(path: string, run: string, synchronous: Synchronous): Promise<OwnThread> {
    const database = await openWithoutWaits(path, synchronous);
    const operations = new SqliteOperations(database);
    const open = { path, database, operations, file: new FileOfRun(path, run), bells: new Bells(path) };
    return new OwnThread(open, synchronous);
  }

  /** Undefined for what has to write. Throws what the operation refuses, StreamError "lost", HONE_ERR_IO. */
  look<K extends OperationName>(
    name: K,
    args: Arguments<K>,
    fence?: Fence,
  ): { result: Result<K> } | undefined {
    if (!MAY_LOOK.has(name)) return undefined;
    const { path, database, operations, file } = this.#open;
    try {
      file.expect();
      const result = inTransaction(database, "DEFERRED", () => operations.look(name, args, fence));
      return result === undefined ? undefined : { result };
    } catch (error) {
      if (isBusy(error)) return undefined; // somebody mends the file after a death: whoever writes can wait for it
      throw errorOf(path, error);
    }
  }

  /** Undefined where that would have to wait: nothing was done. */
  write(orders: readonly Order[]): Answer[] | undefined {
    if (this.#synchronous !== "OFF") return undefined;
    try {
      return doTogether(this.#open, orders);
    } catch {
      return undefined;
    }
  }

  close(): void {
    this.#open.database.close();
    this.#open.bells.close();
  }
}
