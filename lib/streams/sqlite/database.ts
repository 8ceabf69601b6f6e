import { readFileSync, statSync } from "node:fs";
import { HoneError } from "../../errors.ts";
import { optionalPackage } from "../optional-package.ts";
import { StreamError } from "../stream-error.ts";

/** What of better-sqlite3 is used. */
export interface Database {
  exec(sql: string): void;
  pragma(text: string): unknown;
  prepare(sql: string): Statement;
  close(): void;
  readonly inTransaction: boolean;
}

export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number };
  get(...values: readonly Value[]): unknown;
  all(...values: readonly Value[]): unknown[];
}

export type Value = string | number | Uint8Array | null;

type DatabaseClass = new (path: string, options: { readonly timeout: number }) => Database;

const PACKAGE = "better-sqlite3";
/** Of waiting for another process's writes: until one that was stopped amid its first has been ended (FleetSettings.beginMs). */
export const PATIENCE_MS = 150_000;
const SCHEMA_VERSION = 2;

/**
 * meta: run, and boot (of the machine, whose clock leases are measured by). pending: what is held, and under which fence. stream: what was appended and trimmed so far.
 * The payload is an entry's last column, so that sums over the others do not read it.
 */
const SCHEMA = `
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE stream(name TEXT PRIMARY KEY, last INTEGER NOT NULL, trimmed INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE entry(
  stream TEXT NOT NULL, offset INTEGER NOT NULL, key TEXT NOT NULL, samples INTEGER NOT NULL, tokens INTEGER NOT NULL,
  at_ms INTEGER NOT NULL, reason TEXT, payload BLOB NOT NULL
);
CREATE UNIQUE INDEX entry_by_offset ON entry(stream, offset);
CREATE UNIQUE INDEX entry_by_key ON entry(stream, key);
CREATE TABLE reader(stream TEXT, name TEXT, cursor INTEGER NOT NULL, PRIMARY KEY(stream, name)) WITHOUT ROWID;
CREATE TABLE pending(
  stream TEXT, reader TEXT, offset INTEGER, token TEXT NOT NULL, deliveries INTEGER NOT NULL, until_ms REAL NOT NULL,
  fence_key TEXT, fence_value TEXT,
  PRIMARY KEY(stream, reader, offset)
) WITHOUT ROWID;
CREATE TABLE pin(stream TEXT, name TEXT, cursor INTEGER NOT NULL, PRIMARY KEY(stream, name)) WITHOUT ROWID;
CREATE TABLE register(key TEXT PRIMARY KEY, value TEXT NOT NULL, until_ms REAL) WITHOUT ROWID;
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** What survives: the death of every process ("OFF"), or that of the machine too ("FULL"), at the price of its disk's time. */
export type Synchronous = "FULL" | "OFF";

/** A file of streams, its tables made where there are none. Rejects with HONE_ERR_USAGE, HONE_ERR_IO, HONE_ERR_FORMAT. */
export async function openDatabase(path: string, synchronous: Synchronous = "FULL"): Promise<Database> {
  const found = (await optionalPackage(PACKAGE, "a stream store in a file")) as { default: DatabaseClass };
  const database = opened(found.default, path);
  try {
    database.pragma("journal_mode = WAL");
    database.pragma(`synchronous = ${synchronous}`);
    inTransaction(database, "IMMEDIATE", () => prepareTables(database, path));
    return database;
  } catch (cause) {
    database.close();
    throw errorOf(path, cause);
  }
}

/**
 * The same file, for what waits neither for the disk nor for another process: looks, and with "OFF" writes. Whoever opens it
 * first has made the tables. Rejects with HONE_ERR_USAGE, HONE_ERR_IO.
 */
export async function openWithoutWaits(path: string, synchronous: Synchronous): Promise<Database> {
  const found = (await optionalPackage(PACKAGE, "a stream store in a file")) as { default: DatabaseClass };
  const database = opened(found.default, path);
  database.pragma(synchronous === "OFF" ? "synchronous = OFF" : "query_only = ON");
  database.pragma("busy_timeout = 0");
  return database;
}

/** A file that was opened, and who it is of. */
export class FileOfRun {
  readonly #path: string;
  readonly #run: string;
  readonly #inode: number;

  constructor(path: string, run: string) {
    this.#path = path;
    this.#run = run;
    this.#inode = statSync(path).ino;
  }

  /** Throws StreamError "lost" where another file, or none, has its place. */
  expect(): void {
    if (statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode) return;
    const found = `${this.#path} was deleted or exchanged`;
    throw new StreamError({ why: "lost", about: this.#run, found });
  }
}

/** Runs `work`, whose writes are made together or, where it throws, not at all. */
export function inTransaction<T>(database: Database, kind: "DEFERRED" | "IMMEDIATE", work: () => T): T {
  database.exec(`BEGIN ${kind}`);
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Whether another process is writing. */
export const isBusy = (error: unknown): boolean =>
  String((error as { readonly code?: unknown }).code).startsWith("SQLITE_BUSY");

/** What was thrown, as an error of ours. */
export function errorOf(path: string, error: unknown): HoneError {
  return HoneError.is(error) ? error : ioError(path, error);
}

function ioError(path: string, cause: unknown): HoneError {
  return new HoneError("HONE_ERR_IO", `${path}: ${(cause as Error).message}`, { cause });
}

function opened(DatabaseOf: DatabaseClass, path: string): Database {
  try {
    return new DatabaseOf(path, { timeout: PATIENCE_MS });
  } catch (cause) {
    if (!/bindings file|NODE_MODULE_VERSION/.test((cause as Error).message)) throw ioError(path, cause);
    throw new HoneError("HONE_ERR_USAGE", `${PACKAGE} was not built for this Node`, {
      hint: `npm rebuild ${PACKAGE}`,
      cause,
    });
  }
}

function prepareTables(database: Database, path: string): void {
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version === 0) database.exec(SCHEMA);
  else if (version !== SCHEMA_VERSION)
    throw new HoneError(
      "HONE_ERR_FORMAT",
      `${path} is of version ${version}, this package knows ${SCHEMA_VERSION}`,
    );
  expireLeasesOfOtherBoots(database);
}

/** After a reboot the clock began anew, and nobody who had a lease is alive. */
function expireLeasesOfOtherBoots(database: Database): void {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const known = database.prepare("SELECT value FROM meta WHERE name = 'boot'").get() as
    | { value: string }
    | undefined;
  if (known?.value === boot) return;
  database.exec("UPDATE pending SET until_ms = 0; DELETE FROM register WHERE until_ms IS NOT NULL");
  database.prepare("INSERT OR REPLACE INTO meta VALUES('boot', ?)").run(boot);
}
