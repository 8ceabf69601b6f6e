import { deadLettersOf } from "../checks.ts";
import {
  type Arguments,
  type Fence,
  type Leased,
  type OperationName,
  type Operations,
  REGISTERS,
  type Result,
} from "../driver.ts";
import type { Depth, Entry } from "../store.ts";
import { exhausted, fencedBy, heldBy, StreamError } from "../stream-error.ts";
import type { Database } from "./database.ts";
import { monotonicMs, SqliteRegisters } from "./registers.ts";
import { type EntryRow, HELD, type LeasedRow, type PendingRow, Tables, valuesOf } from "./tables.ts";

const SET_REGISTERS: ReadonlySet<OperationName> = new Set(["set", "cas", "setLease"]);
const LOOKS: ReadonlySet<OperationName> = new Set(["read", "depth", "get", "list"]);

/** Operations on a file. Each is part of the caller's transaction, and refuses before it writes. */
export class SqliteOperations extends Tables {
  readonly #registers: SqliteRegisters;

  constructor(database: Database) {
    super(database);
    this.#registers = new SqliteRegisters(database);
  }

  run<K extends OperationName>(name: K, args: Arguments<K>, fence?: Fence): Result<K> {
    if (fence !== undefined) this.#checkFence(fence);
    if (SET_REGISTERS.has(name)) this.tell(REGISTERS);
    const operation = this.#operations[name] as (args: Arguments<K>, fence?: Fence) => Result<K>;
    return operation(args, fence);
  }

  /** As `run`; undefined where something would be written. Where there is nothing to lease a lease only looks. */
  look<K extends OperationName>(name: K, args: Arguments<K>, fence?: Fence): Result<K> | undefined {
    if (LOOKS.has(name)) return this.run(name, args, fence);
    if (name !== "lease") return undefined;
    if (fence !== undefined) this.#checkFence(fence);
    return this.#noLease(args as Arguments<"lease">) as Result<K> | undefined;
  }

  readonly #operations: Operations = {
    append: (what) => this.append(what) ?? this.offsetOf(what)!,
    lease: (args, fence) => this.#lease(args, fence),
    renew: ({ leaseMs, ...held }) => {
      const sql = `UPDATE pending SET until_ms = ? WHERE ${HELD}`;
      return this.change(sql, monotonicMs() + leaseMs, ...valuesOf(held)) > 0;
    },
    forward: ({ out, keeps, ...held }) => {
      const isHeld = keeps ? this.held(held) !== undefined : this.finishHeld(held);
      if (!isHeld && this.offsetOf(out) === undefined)
        throw new StreamError({ why: "lease-lost", about: held.stream, found: String(held.offset) });
      return (isHeld && this.append(out)) || null;
    },
    release: ({ end, ...held }) => {
      if (this.held(held) === undefined) return false;
      if (end === "retry") {
        this.giveBack(HELD, valuesOf(held), end);
        this.tell(held.stream);
      } else this.finish(held);
      if (typeof end === "object") this.bury(held, end.dead);
      return true;
    },
    free: ({ key, as }) => {
      const those = "fence_key = ? AND fence_value IS NOT ?";
      const values = [key, this.#registers.get({ key })];
      const sql = `SELECT DISTINCT stream FROM pending WHERE ${those}`;
      for (const { stream } of this.all<{ stream: string }>(sql, ...values)) this.tell(stream);
      return this.giveBack(those, values, as);
    },
    read: ({ stream, after, max }) => {
      this.checkCursor(stream, after);
      return this.behind(stream, after, max).map(entryOf);
    },
    pin: ({ stream, name, cursor }) => {
      if (cursor === null) this.change("DELETE FROM pin WHERE stream = ? AND name = ?", stream, name);
      else {
        this.checkCursor(stream, cursor);
        this.change("INSERT OR REPLACE INTO pin VALUES(?, ?, ?)", stream, name, cursor);
      }
      return null;
    },
    trim: (args) => this.#trim(args),
    depth: (args) => this.#depth(args),
    get: (args) => this.#registers.get(args),
    set: (args) => this.#registers.set(args),
    cas: (args) => this.#registers.cas(args),
    delete: (args) => this.#registers.delete(args),
    list: (args) => this.#registers.list(args),
    setLease: (args) => this.#registers.setLease(args),
  };

  #lease({ stream, group, token, max, leaseMs, maxDeliveries }: Arguments<"lease">, fence?: Fence): Leased {
    const none = this.#noLease({ stream, group });
    if (none !== undefined) return none;
    const now = monotonicMs();
    const by = [fence?.key ?? null, fence?.value ?? null] as const;
    const taken: LeasedRow[] = [];
    const take = (offset: number, deliveries: number) => {
      const values = [stream, group, offset, token, deliveries, now + leaseMs, ...by];
      this.change("INSERT OR REPLACE INTO pending VALUES(?, ?, ?, ?, ?, ?, ?, ?)", ...values);
      taken.push({ ...this.at(stream, offset), deliveries, isAgain: true });
    };
    const sql =
      "SELECT offset, deliveries FROM pending WHERE stream = ? AND reader = ? AND until_ms <= ? ORDER BY offset";
    for (const { offset, deliveries } of this.all<PendingRow>(sql, stream, group, now)) {
      if (taken.length === max) break;
      if (deliveries < maxDeliveries) take(offset, deliveries + 1);
      else {
        this.finish({ stream, group, offset });
        this.bury({ stream, group, offset }, exhausted(deliveries));
      }
    }
    taken.push(...this.takeNew({ stream, group, token, max: max - taken.length }, now + leaseMs, by));
    const leases = taken.map(({ deliveries, isAgain, ...row }) => ({ ...entryOf(row), deliveries, isAgain }));
    return { leases, ...this.nextMs(stream, group) };
  }

  /** Undefined where there may be one, and for a group that is new: it is to be known, so that nothing is trimmed before it. */
  #noLease({ stream, group }: Pick<Arguments<"lease">, "stream" | "group">): Leased | undefined {
    const reader = "SELECT cursor FROM reader WHERE stream = ? AND name = ?";
    const cursor = this.row<{ cursor: number }>(reader, stream, group)?.cursor;
    if (cursor === undefined || cursor < this.ends(stream).last) return undefined;
    const over = "SELECT 1 AS one FROM pending WHERE stream = ? AND reader = ? AND until_ms <= ? LIMIT 1";
    if (this.row(over, stream, group, monotonicMs()) !== undefined) return undefined;
    return { leases: [], ...this.nextMs(stream, group) };
  }

  #trim({ stream, before }: Arguments<"trim">): number {
    this.keepEnds();
    const first = this.row<{ holder: string; needed: number }>(
      `SELECT 'checkpoint ' || name AS holder, cursor + 1 AS needed FROM pin WHERE stream = ?
       UNION ALL SELECT 'group ' || name, cursor + 1 FROM reader WHERE stream = ?
       UNION ALL SELECT 'group ' || reader, offset FROM pending WHERE stream = ?
       ORDER BY needed, holder LIMIT 1`,
      stream,
      stream,
      stream,
    );
    if (first !== undefined && before > first.needed)
      throw new StreamError({ why: "held", about: stream, found: heldBy(first.holder, first.needed) });
    const gone = this.change("DELETE FROM entry WHERE stream = ? AND offset < ?", stream, before);
    this.change("UPDATE stream SET trimmed = trimmed + ? WHERE name = ?", gone, stream);
    return gone;
  }

  #depth({ stream, group, after }: Arguments<"depth">): Depth {
    const cursor = group === undefined ? (after ?? this.ends(stream).trimmed) : this.cursor(stream, group);
    this.checkCursor(stream, cursor);
    const counted = this.row<{ items: number; samples: number; tokens: number; at: number | null }>(
      `SELECT COUNT(*) AS items, TOTAL(samples) AS samples, TOTAL(tokens) AS tokens, MIN(at_ms) AS at FROM entry
       WHERE stream = ? AND (offset > ?
         OR offset IN (SELECT offset FROM pending WHERE stream = ? AND reader = ?))`,
      stream,
      cursor,
      stream,
      group ?? "",
    )!;
    const { items, samples, tokens, at } = counted;
    const oldestMs = at === null ? 0 : Math.max(0, Date.now() - at);
    return { items, samples, tokens, oldestMs, dead: this.ends(deadLettersOf(stream)).last };
  }

  #checkFence({ key, value }: Fence): void {
    const found = this.#registers.get({ key }) ?? undefined;
    if (found !== value) throw new StreamError({ why: "fenced", about: key, found: fencedBy(found, value) });
  }
}

function entryOf({ offset, key, payload, reason }: EntryRow): Entry {
  const { buffer, byteOffset, byteLength } = payload; // it is a Buffer
  const entry = { offset, key, payload: new Uint8Array(buffer, byteOffset, byteLength) };
  return reason === null ? entry : { ...entry, reason };
}
