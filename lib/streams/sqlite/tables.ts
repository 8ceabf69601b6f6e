import { deadLettersOf } from "../checks.ts";
import type { Appended, Held } from "../driver.ts";
import type { EntrySize, Offset } from "../store.ts";
import { StreamError } from "../stream-error.ts";
import type { Database, Statement, Value } from "./database.ts";
import { monotonicMs } from "./registers.ts";

export interface EntryRow {
  readonly offset: number;
  readonly key: string;
  readonly payload: Uint8Array;
  readonly reason: string | null;
}

export interface PendingRow {
  readonly offset: number;
  readonly deliveries: number;
}

export interface LeasedRow extends EntryRow, PendingRow {
  readonly isAgain: boolean;
}

/** "LIMIT ?" alone would be planned anew at every call: SQLite looks at the number. */
const BEHIND =
  "SELECT offset, key, reason, payload FROM entry WHERE stream = ? AND offset > ? ORDER BY offset LIMIT ? + 0";
const TAKE = `INSERT OR REPLACE INTO pending
  SELECT stream, ?, offset, ?, 1, ?, ?, ? FROM entry WHERE stream = ? AND offset > ? AND offset <= ?`;

/** Rows of the tables of database.ts. Each call is part of the caller's transaction. */
export class Tables {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  #news = new Set<string>();
  /** Ends of streams to which the transaction under way has appended: written once, with `keepEnds`. */
  readonly #appended = new Map<string, Offset>();

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

  /** What was appended can be read by others once this is done. Within the transaction that appended it. */
  keepEnds(): void {
    const sql = "INSERT INTO stream VALUES(?, ?, 0) ON CONFLICT(name) DO UPDATE SET last = excluded.last";
    for (const [stream, last] of this.#appended) this.change(sql, stream, last);
    this.forgetEnds();
  }

  /** Of a transaction that did not come to its end. */
  forgetEnds(): void {
    this.#appended.clear();
  }

  /** Undefined where the stream has an entry of this key. */
  protected append(
    { stream, key, payload, size }: Appended,
    reason: string | null = null,
  ): Offset | undefined {
    const offset = this.last(stream) + 1;
    const sql = "INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(stream, key) DO NOTHING";
    const values = [stream, offset, key, size.samples, size.tokens, Date.now(), reason, payload];
    if (this.change(sql, ...values) === 0) return undefined;
    this.#appended.set(stream, offset);
    this.tell(stream);
    return offset;
  }

  protected last(stream: string): Offset {
    return this.#appended.get(stream) ?? this.ends(stream).last;
  }

  protected cursor(stream: string, group: string): Offset {
    const sql = "SELECT cursor FROM reader WHERE stream = ? AND name = ?";
    return this.row<{ cursor: number }>(sql, stream, group)?.cursor ?? this.ends(stream).trimmed;
  }

  /** Entries that nobody of the group has had; it is known from here on. */
  protected takeNew(
    { stream, group, token, max }: Omit<Held, "offset"> & { readonly max: number },
    untilMs: number,
    by: readonly [fenceKey: Value, fenceValue: Value],
  ): LeasedRow[] {
    const cursor = this.cursor(stream, group);
    const rows = this.behind(stream, cursor, max);
    const last = cursor + rows.length;
    if (rows.length > 0) this.change(TAKE, group, token, untilMs, ...by, stream, cursor, last);
    this.change("INSERT OR REPLACE INTO reader VALUES(?, ?, ?)", stream, group, last);
    return rows.map((row) => ({ ...row, deliveries: 1, isAgain: false }));
  }

  protected behind(stream: string, cursor: Offset, max: number): EntryRow[] {
    return this.all<EntryRow>(BEHIND, stream, cursor, max);
  }

  /** When the next lease of the group runs out. */
  protected nextMs(stream: string, group: string): { readonly nextMs?: number } {
    const sql = "SELECT MIN(until_ms) AS at FROM pending WHERE stream = ? AND reader = ?";
    const at = this.row<{ at: number | null }>(sql, stream, group)?.at ?? undefined;
    return at === undefined ? {} : { nextMs: at - monotonicMs() };
  }

  protected ends(stream: string): { readonly last: Offset; readonly trimmed: Offset } {
    const found = this.row<{ last: number; trimmed: number }>("SELECT * FROM stream WHERE name = ?", stream);
    const { last, trimmed } = found ?? { last: 0, trimmed: 0 };
    return { last: this.#appended.get(stream) ?? last, trimmed };
  }

  protected offsetOf({ stream, key }: Pick<Appended, "stream" | "key">): Offset | undefined {
    const sql = "SELECT offset FROM entry WHERE stream = ? AND key = ?";
    return this.row<{ offset: number }>(sql, stream, key)?.offset;
  }

  protected at(stream: string, offset: Offset): EntryRow & EntrySize {
    const sql = "SELECT * FROM entry WHERE stream = ? AND offset = ?";
    return this.row<EntryRow & EntrySize>(sql, stream, offset)!;
  }

  protected held(held: Held): PendingRow | undefined {
    const sql = `SELECT offset, deliveries FROM pending WHERE ${HELD}`;
    return this.row<PendingRow>(sql, ...valuesOf(held));
  }

  /** Whether it was held, and is no more. */
  protected finishHeld(held: Held): boolean {
    return this.change(`DELETE FROM pending WHERE ${HELD}`, ...valuesOf(held)) > 0;
  }

  /** What is held, `where`, to whoever asks next; how many. */
  protected giveBack(where: string, values: readonly Value[], as: "lost" | "retry"): number {
    const less = as === "retry" ? ", deliveries = deliveries - 1" : "";
    const nobody = "token = '', until_ms = 0, fence_key = NULL, fence_value = NULL";
    return this.change(`UPDATE pending SET ${nobody}${less} WHERE ${where}`, ...values);
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

/** Whose values `valuesOf` has. */
export const HELD = "stream = ? AND reader = ? AND offset = ? AND token = ?";

export const valuesOf = ({ stream, group, offset, token }: Held) => [stream, group, offset, token] as const;
