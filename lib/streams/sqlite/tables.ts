import { deadLettersOf } from "../checks.ts";
import type { Appended, Held } from "../driver.ts";
import type { Offset } from "../store.ts";
import { StreamError } from "../stream-error.ts";
import type { Database, Statement, Value } from "./database.ts";
import { monotonicMs } from "./registers.ts";

export interface EntryRow {
  readonly offset: number;
  readonly key: string;
  readonly payload: Uint8Array;
  readonly samples: number;
  readonly tokens: number;
  readonly reason: string | null;
}

export interface PendingRow {
  readonly offset: number;
  readonly deliveries: number;
}

/** Rows of the tables of database.ts. Each call is part of the caller's transaction. */
export class Tables {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  #news = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Topics in which something is new since the last call. */
  takeNews(): ReadonlySet<string> {
    const news = this.#news;
    this.#news = new Set();
    return news;
  }

  protected tell(topic: string): void {
    this.#news.add(topic);
  }

  protected append({ stream, key, payload, size }: Appended, reason: string | null = null): Offset {
    const offset = this.ends(stream).last + 1;
    const sql = "INSERT INTO stream VALUES(?, ?, 0) ON CONFLICT(name) DO UPDATE SET last = excluded.last";
    this.change(sql, stream, offset);
    const values = [stream, offset, key, size.samples, size.tokens, Date.now(), reason, payload];
    this.change("INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?)", ...values);
    this.tell(stream);
    return offset;
  }

  protected cursor(stream: string, group: string): Offset {
    const sql = "SELECT cursor FROM reader WHERE stream = ? AND name = ?";
    return this.row<{ cursor: number }>(sql, stream, group)?.cursor ?? this.ends(stream).trimmed;
  }

  /** When the next lease of the group runs out. */
  protected nextMs(stream: string, group: string): { readonly nextMs?: number } {
    const sql = "SELECT MIN(until_ms) AS at FROM pending WHERE stream = ? AND reader = ?";
    const at = this.row<{ at: number | null }>(sql, stream, group)?.at ?? undefined;
    return at === undefined ? {} : { nextMs: at - monotonicMs() };
  }

  protected ends(stream: string): { readonly last: Offset; readonly trimmed: Offset } {
    const found = this.row<{ last: number; trimmed: number }>("SELECT * FROM stream WHERE name = ?", stream);
    return found ?? { last: 0, trimmed: 0 };
  }

  protected offsetOf({ stream, key }: Pick<Appended, "stream" | "key">): Offset | undefined {
    const sql = "SELECT offset FROM entry WHERE stream = ? AND key = ?";
    return this.row<{ offset: number }>(sql, stream, key)?.offset;
  }

  protected at(stream: string, offset: Offset): EntryRow {
    return this.row<EntryRow>("SELECT * FROM entry WHERE stream = ? AND offset = ?", stream, offset)!;
  }

  protected held(held: Held): PendingRow | undefined {
    const sql =
      "SELECT offset, deliveries FROM pending WHERE stream = ? AND reader = ? AND offset = ? AND token = ?";
    return this.row<PendingRow>(sql, ...valuesOf(held));
  }

  protected finish({ stream, group, offset }: Omit<Held, "token">): void {
    this.change("DELETE FROM pending WHERE stream = ? AND reader = ? AND offset = ?", stream, group, offset);
  }

  protected bury({ stream, group, offset }: Omit<Held, "token">, reason: string): void {
    const { key, payload, samples, tokens } = this.at(stream, offset);
    const letter = { stream: deadLettersOf(stream), key: `${group}/${offset}/${key}`, payload };
    this.append({ ...letter, size: { samples, tokens } }, reason);
  }

  protected checkCursor(stream: string, cursor: Offset): void {
    const { last, trimmed } = this.ends(stream);
    if (cursor < trimmed) throw new StreamError({ why: "trimmed", about: stream, found: String(trimmed) });
    if (cursor > last) throw new StreamError({ why: "ahead", about: stream, found: String(last) });
  }

  protected row<T>(sql: string, ...values: readonly Value[]): T | undefined {
    return this.#statement(sql).get(...values) as T | undefined;
  }

  protected all<T>(sql: string, ...values: readonly Value[]): T[] {
    return this.#statement(sql).all(...values) as T[];
  }

  protected change(sql: string, ...values: readonly Value[]): number {
    return this.#statement(sql).run(...values).changes;
  }

  #statement(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

export const valuesOf = ({ stream, group, offset, token }: Held) => [stream, group, offset, token] as const;
