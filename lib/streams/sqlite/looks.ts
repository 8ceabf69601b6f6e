import type { Arguments, Fence, OperationName, Result } from "../driver.ts";
import { type Database, errorOf, FileOfRun, inTransaction, isBusy, openForLooks } from "./database.ts";
import { SqliteOperations } from "./operations.ts";

const MAY_LOOK: ReadonlySet<OperationName> = new Set(["read", "depth", "get", "list", "lease"]);

/** Operations that change nothing, in the caller's thread: they wait neither for the disk nor for who writes. */
export class Looks {
  readonly #path: string;
  readonly #database: Database;
  readonly #operations: SqliteOperations;
  readonly #file: FileOfRun;

  private constructor(path: string, run: string, database: Database) {
    this.#path = path;
    this.#database = database;
    this.#operations = new SqliteOperations(database);
    this.#file = new FileOfRun(path, run);
  }

  /** Of a file that has its tables. */
  static async at(path: string, run: string): Promise<Looks> {
    return new Looks(path, run, await openForLooks(path));
  }

  /** Undefined for what has to write. Throws what the operation refuses, StreamError "lost", HONE_ERR_IO. */
  run<K extends OperationName>(
    name: K,
    args: Arguments<K>,
    fence?: Fence,
  ): { result: Result<K> } | undefined {
    if (!MAY_LOOK.has(name)) return undefined;
    try {
      this.#file.expect();
      return inTransaction(this.#database, "DEFERRED", () =>
        this.#operations.looks(name, args) ? { result: this.#operations.run(name, args, fence) } : undefined,
      );
    } catch (error) {
      if (isBusy(error)) return undefined; // somebody mends the file after a death: whoever writes can wait for it
      throw errorOf(this.#path, error);
    }
  }

  close(): void {
    this.#database.close();
  }
}
