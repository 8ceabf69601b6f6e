import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openStore, type StreamStore } from "../../../lib/streams/index.ts";
import type { DriverUnderTest, Place } from "../place.ts";

/** Why nothing of SQLite is tested here. */
export const noSqlite = isBuilt() ? undefined : "better-sqlite3 is not built here: npm ci";

function isBuilt(): boolean {
  try {
    const main = createRequire(import.meta.url).resolve("better-sqlite3/package.json");
    return existsSync(join(dirname(main), "build/Release/better_sqlite3.node"));
  } catch {
    return false;
  }
}

/** A folder with a file of streams of run "r". */
export class SqliteFile implements Place {
  readonly dir = mkdtempSync(join(tmpdir(), "hone-sqlite-"));
  readonly path = join(this.dir, "streams.db");
  readonly #opened: StreamStore[] = [];
  readonly #query: string;

  /** @param query of its address */
  constructor(query: "" | "?synchronous=off" = "") {
    this.#query = query;
  }

  get url(): string {
    return `sqlite:${this.path}${this.#query}`;
  }

  async open(options: { readonly mustExist?: boolean } = {}): Promise<StreamStore> {
    const store = await openStore(this.url, { run: "r", ...options });
    this.#opened.push(store);
    return store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#opened) await store.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

const TABLES = ["stream", "entry", "reader", "pending", "pin", "register"];

/** Each test finds the file empty; the first two objects are the same ones each time, for theirs are threads. */
export class SqliteSuite implements AsyncDisposable {
  readonly #file: SqliteFile;
  readonly #kept: StreamStore[] = [];
  readonly driver: DriverUnderTest;

  constructor(query: "" | "?synchronous=off" = "") {
    this.#file = new SqliteFile(query);
    this.driver = this.#driver(`sqlite${query}`);
  }

  readonly #driver = (name: string): DriverUnderTest => ({
    name,
    skipped: noSqlite,
    place: async () => {
      if (this.#kept.length > 0) this.#empty();
      let opened = 0;
      return {
        open: async () => {
          const kept = this.#kept[opened];
          opened += 1;
          if (kept !== undefined) return kept;
          const store = await this.#file.open();
          if (opened <= 2) this.#kept.push(store);
          return store;
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
  });

  #empty(): void {
    const Database = createRequire(import.meta.url)("better-sqlite3");
    const database = new Database(this.#file.path);
    database.exec(TABLES.map((table) => `DELETE FROM ${table};`).join(""));
    database.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file[Symbol.asyncDispose]();
  }
}
