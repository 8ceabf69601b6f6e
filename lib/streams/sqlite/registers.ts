import type { Arguments, Operations } from "../driver.ts";
import type { Database, Statement } from "./database.ts";

type RegisterOperations = Pick<Operations, "get" | "set" | "cas" | "delete" | "list" | "setLease">;

/** Milliseconds of a clock that only goes forward and that all processes of a machine share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

const ALIVE = "(until_ms IS NULL OR until_ms > ?)";

/** Registers in a file. Each call is part of the caller's transaction. */
export class SqliteRegisters implements RegisterOperations {
  readonly #get: Statement;
  readonly #set: Statement;
  readonly #delete: Statement;
  readonly #list: Statement;
  readonly #sweep: Statement;

  constructor(database: Database) {
    this.#get = database.prepare(`SELECT value FROM register WHERE key = ? AND ${ALIVE}`);
    this.#set = database.prepare("INSERT OR REPLACE INTO register VALUES(?, ?, ?)");
    this.#delete = database.prepare("DELETE FROM register WHERE key = ?");
    this.#list = database.prepare(`SELECT key, value FROM register WHERE substr(key, 1, ?) = ? AND ${ALIVE}`);
    this.#sweep = database.prepare("DELETE FROM register WHERE until_ms <= ?");
  }

  get({ key }: Arguments<"get">): string | null {
    const row = this.#get.get(key, monotonicMs()) as { value: string } | undefined;
    return row?.value ?? null;
  }

  set({ key, value }: Arguments<"set">): null {
    this.#set.run(key, value, null);
    return null;
  }

  cas({ key, expected, value }: Arguments<"cas">): boolean {
    if (this.get({ key }) !== expected) return false;
    this.set({ key, value });
    return true;
  }

  delete({ key, expected }: Arguments<"delete">): boolean {
    const found = this.get({ key });
    if (found === null || (expected !== null && found !== expected)) return false;
    return this.#delete.run(key).changes > 0;
  }

  list({ prefix }: Arguments<"list">): (readonly [string, string])[] {
    const characters = [...prefix].length; // SQLite counts code points
    const rows = this.#list.all(characters, prefix, monotonicMs()) as { key: string; value: string }[];
    return rows.map(({ key, value }) => [key, value] as const);
  }

  setLease({ key, value, ttlMs }: Arguments<"setLease">): boolean {
    const found = this.get({ key });
    if (found !== null && found !== value) return false;
    this.#sweep.run(monotonicMs());
    this.#set.run(key, value, monotonicMs() + ttlMs);
    return true;
  }
}
