import type { Appended, Arguments, Fence, Held, Leased } from "./driver.ts";
import type { Depth, Entry, Offset } from "./store.ts";
import { heldBy, StreamError } from "./stream-error.ts";

export interface Stored extends Entry {
  readonly size: Appended["size"];
  readonly atMs: number;
}

interface Pending {
  token: string;
  untilMs: number;
  deliveries: number;
  /** The fence under which the entry is leased. */
  fence: Fence | undefined;
}

interface Group {
  /** The last entry that was given to a reader. */
  cursor: Offset;
  /** Leased or returned entries up to the cursor that are not finished. */
  readonly pending: Map<Offset, Pending>;
}

/** One stream in memory. Times are milliseconds of the caller's clock. */
export class MemoryStream {
  readonly #name: string;
  /** Entries after #trimmed, in order and without gaps. */
  #entries: Stored[] = [];
  #trimmed: Offset = 0;
  readonly #offsets = new Map<string, Offset>();
  readonly #groups = new Map<string, Group>();
  readonly #pins = new Map<string, Offset>();

  constructor(name: string) {
    this.#name = name;
  }

  get last(): Offset {
    return this.#trimmed + this.#entries.length;
  }

  offsetOf(key: string): Offset | undefined {
    return this.#offsets.get(key);
  }

  at(offset: Offset): Stored {
    return this.#entries[offset - this.#trimmed - 1]!;
  }

  append({ key, payload, size }: Omit<Appended, "stream">, atMs: number, reason?: string): Offset {
    const offset = this.last + 1;
    const stored = { offset, key, payload: new Uint8Array(payload), size, atMs };
    this.#entries.push(reason === undefined ? stored : { ...stored, reason });
    this.#offsets.set(key, offset);
    return offset;
  }

  /** Leases to `token`; passes entries that have exhausted their deliveries to `bury`. */
  lease(
    {
      group: name,
      token,
      max,
      leaseMs,
      maxDeliveries,
      fence,
    }: Arguments<"lease"> & { fence: Fence | undefined },
    now: number,
    bury: (offset: Offset, deliveries: number) => void,
  ): Leased {
    const group = this.#groups.get(name) ?? { cursor: this.#trimmed, pending: new Map<Offset, Pending>() };
    this.#groups.set(name, group);
    const taken: { offset: Offset; deliveries: number; isAgain: boolean }[] = [];
    const take = (offset: Offset, deliveries: number, isAgain: boolean) => {
      group.pending.set(offset, { token, untilMs: now + leaseMs, deliveries, fence });
      taken.push({ offset, deliveries, isAgain });
    };
    const over = [...group.pending].filter(([, { untilMs }]) => untilMs <= now).sort(([a], [b]) => a - b);
    for (const [offset, { deliveries }] of over) {
      if (taken.length === max) break;
      if (deliveries < maxDeliveries) take(offset, deliveries + 1, true);
      else {
        group.pending.delete(offset);
        bury(offset, deliveries);
      }
    }
    while (taken.length < max && group.cursor < this.last) take(++group.cursor, 1, false);
    const leases = taken.map(({ offset, ...how }) => ({ ...copied(this.at(offset)), ...how }));
    const nextMs = Math.min(...[...group.pending.values()].map(({ untilMs }) => untilMs - now));
    return Number.isFinite(nextMs) ? { leases, nextMs } : { leases };
  }

  /** Returns the lease if it still is the reader's. */
  held({ group, offset, token }: Held): Pending | undefined {
    const pending = this.#groups.get(group)?.pending.get(offset);
    return pending?.token === token ? pending : undefined;
  }

  /** Entries leased under a fence on `key` with a value other than the register's. */
  fencedOut(key: string, value: string | null): Pending[] {
    const all = [...this.#groups.values()].flatMap(({ pending }) => [...pending.values()]);
    return all.filter(({ fence }) => fence?.key === key && fence.value !== value);
  }

  finish({ group, offset }: Held): void {
    this.#groups.get(group)?.pending.delete(offset);
  }

  read(after: Offset, max: number): Entry[] {
    this.#checkCursor(after);
    return this.#entries.slice(after - this.#trimmed, after - this.#trimmed + max).map(copied);
  }

  pin(name: string, cursor: Offset | null): void {
    if (cursor === null) this.#pins.delete(name);
    else {
      this.#checkCursor(cursor);
      this.#pins.set(name, cursor);
    }
  }

  trim(before: Offset): number {
    const [first] = this.#needs().sort((a, b) => a.needed - b.needed || (a.holder < b.holder ? -1 : 1));
    if (first !== undefined && before > first.needed)
      throw new StreamError({ why: "held", about: this.#name, found: heldBy(first.holder, first.needed) });
    const gone = this.#entries.splice(0, Math.max(0, before - 1 - this.#trimmed));
    for (const { key } of gone) this.#offsets.delete(key);
    this.#trimmed += gone.length;
    return gone.length;
  }

  depth({ group: name, after = this.#trimmed }: Arguments<"depth">, now: number, dead: number): Depth {
    const group = name === undefined ? undefined : this.#groups.get(name);
    const cursor = group?.cursor ?? after;
    this.#checkCursor(cursor);
    const pending = [...(group?.pending.keys() ?? [])].map((offset) => this.at(offset));
    const counted = [...pending, ...this.#entries.slice(cursor - this.#trimmed)];
    const sum = (of: "samples" | "tokens") => counted.reduce((total, { size }) => total + size[of], 0);
    const oldestMs = counted.length === 0 ? 0 : now - Math.min(...counted.map(({ atMs }) => atMs));
    return { items: counted.length, samples: sum("samples"), tokens: sum("tokens"), oldestMs, dead };
  }

  /** The first entry that each checkpoint and each group has not read. */
  #needs(): { readonly holder: string; readonly needed: Offset }[] {
    return [
      ...[...this.#pins].map(([name, cursor]) => ({ holder: `checkpoint ${name}`, needed: cursor + 1 })),
      ...[...this.#groups].map(([name, { cursor, pending }]) => ({
        holder: `group ${name}`,
        needed: Math.min(cursor + 1, ...pending.keys()),
      })),
    ];
  }

  #checkCursor(cursor: Offset): void {
    const about = this.#name;
    if (cursor < this.#trimmed)
      throw new StreamError({ why: "trimmed", about, found: String(this.#trimmed) });
    if (cursor > this.last) throw new StreamError({ why: "ahead", about, found: String(this.last) });
  }
}

/** Makes the entry available to the next reader. */
export function giveBack(pending: Pending, as: "lost" | "retry"): void {
  if (as === "retry") pending.deliveries -= 1;
  Object.assign(pending, { token: "", fence: undefined, untilMs: Number.NEGATIVE_INFINITY });
}

/** Copies the payload, since a reader may write into it. */
function copied({ offset, key, payload, reason }: Stored): Entry {
  const entry = { offset, key, payload: new Uint8Array(payload) };
  return reason === undefined ? entry : { ...entry, reason };
}
