import type { HoneError } from "../errors.ts";

/** A place in a stream: 1, 2, 3, ... in the order of appends. 0 is before the first entry. */
export type Offset = number;

/** Size of an entry, for streams whose depth is limited in samples or tokens, not in entries. Both integers >= 0. */
export interface EntrySize {
  readonly samples: number;
  readonly tokens: number;
}

export interface Entry {
  readonly offset: Offset;
  readonly key: string;
  readonly payload: Uint8Array;
  /** Why this entry was dead-lettered; only in a stream of dead letters. */
  readonly reason?: string;
}

/** An entry leased by one reader of a group, until the lease expires. */
export interface Lease {
  readonly stream: string;
  readonly group: string;
  readonly offset: Offset;
  readonly key: string;
  readonly payload: Uint8Array;
  /**
   * Number of readers that leased the entry, this one included; readers that released it for a retry do not count.
   */
  readonly deliveries: number;
  /** True if any reader has leased it before, even one that returned it: it may have left notes. */
  readonly isAgain: boolean;
  /** Identifies the lease: another lease of the same entry has another token. */
  readonly token: string;
}

interface Waiting {
  /** Maximum number of entries, >= 1. */
  readonly max: number;
  /** Time to wait for the first entry; 0 asks once. Milliseconds. */
  readonly waitMs: number;
  /** Ends the waiting with HONE_ERR_ABORTED. */
  readonly signal?: AbortSignal;
}

export type ReadOptions = Waiting;

export interface LeaseOptions extends Waiting {
  /** Milliseconds without `renew` after which the next reader gets an entry. */
  readonly leaseMs: number;
  /** Number of readers that failed to finish an entry after which it is dead-lettered. Default: 10. */
  readonly maxDeliveries?: number;
}

/**
 * How a lease ends; "retry": another reader gets the entry immediately, as if this one had not leased it; dead: it is
 * dead-lettered with the reason.
 */
export type LeaseEnd = "done" | "retry" | { readonly dead: string };

/** Scope of a depth: entries that `group` has not finished, or those after a cursor. Neither: all that the stream keeps. */
export type DepthOf = { readonly group: string } | { readonly after: Offset };

export interface Depth {
  readonly items: number;
  readonly samples: number;
  readonly tokens: number;
  /** Age of the oldest entry in milliseconds; 0 without entries. */
  readonly oldestMs: number;
  /** Dead letters of the stream so far, of all readers. */
  readonly dead: number;
}

/** Registers of a run: the last value counts. */
export interface KeyValues {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Sets `value` if the key has `expected` (null: if it does not exist). Returns whether it did. */
  cas(key: string, expected: string | null, value: string): Promise<boolean>;
  /** Deletes the key; true if it existed and, if `expected` is given, had that value. */
  delete(key: string, expected?: string): Promise<boolean>;
  /** Keys that begin with `prefix`, with their values. */
  list(prefix: string): Promise<Map<string, string>>;
  /**
   * Takes or renews a key for `ttlMs`, after which it expires: true if it was free or had `value` already; false if it
   * has another value, and nothing changed.
   */
  setLease(key: string, value: string, ttlMs: number): Promise<boolean>;
  /** The key's value as soon as it exists and is not `not`; undefined if that did not happen within `waitMs`. */
  waitFor(key: string, options: WaitForOptions): Promise<string | undefined>;
}

export interface WaitForOptions {
  readonly waitMs: number;
  readonly not?: string;
  readonly signal?: AbortSignal;
}

/**
 * Streams and registers of one run, shared by its processes. Delivery is at least once, appends are idempotent by key,
 * `forward` is atomic, and a reader's cursor belongs to the reader: together each entry has its effect once, whichever
 * process is killed in between. Resolved writes are durable as docs/explanation/streams.md says of each driver. Names of streams
 * and groups have 1 to 200 of A-Z a-z 0-9 . _ / -; keys are 1 to 512 UTF-16 units. Every call rejects with
 * HONE_ERR_USAGE for arguments out of range, HONE_ERR_STATE after `close`, HONE_ERR_STREAM (a StreamError, `why` says
 * which) where the store's content forbids it, HONE_ERR_IO where the store cannot be reached.
 */
export interface StreamStore extends AsyncDisposable {
  readonly kv: KeyValues;
  /**
   * From now on refuses this object's writes to streams (StreamError "fenced") unless register `key` has `value`:
   * with an epoch as value, a process that was declared dead can no longer write. Registers stay writable.
   */
  fence(key: string, value: string): void;
  /** Durable when it resolves. Returns the key's offset; appends nothing if the stream already has an entry with this key. */
  append(stream: string, key: string, payload: Uint8Array, size?: EntrySize): Promise<Offset>;
  /**
   * Leases entries exclusively, in the order of offsets, first those that earlier readers did not finish. A group
   * gets every entry of the stream, from the first one kept when the group is new. Returns none if none arrived in
   * time.
   */
  lease(stream: string, group: string, options: LeaseOptions): Promise<Lease[]>;
  /** Extends the lease to `leaseMs` from now. False: another reader holds the entry, or it is finished. */
  renew(lease: Lease, leaseMs: number): Promise<boolean>;
  /**
   * Finishes the entry and appends to `out` atomically. null: `out` had an entry of this key, and the entry is
   * finished. StreamError "lease-lost" if another reader holds it by now and `out` has no entry of the key.
   */
  forward(
    lease: Lease,
    out: string,
    key: string,
    payload: Uint8Array,
    size?: EntrySize,
  ): Promise<Offset | null>;
  /**
   * Appends to `out` while this reader holds the entry, and leaves the lease unchanged: the next reader finds all
   * notes of earlier readers there, which can add no more. Retries and refusals as for `forward`.
   */
  note(lease: Lease, out: string, key: string, payload: Uint8Array, size?: EntrySize): Promise<void>;
  /** Ends the lease. False: another reader holds the entry, or it is finished, and nothing changed. */
  release(lease: Lease, end: LeaseEnd): Promise<boolean>;
  /**
   * Ends every lease that a fence on register `key` shuts out, and no other: the entries are available at once.
   * @param as "lost": counts as a delivery, as when a lease expired; "retry": as if it had not been leased. Resolves
   * with their number.
   */
  free(key: string, as: "lost" | "retry"): Promise<number>;
  /**
   * Entries after a cursor, the same for every call. StreamError "trimmed" if one of them was trimmed, "ahead" if the
   * cursor is beyond the stream's end: the store is older than the reader's cursor.
   */
  read(stream: string, after: Offset, options: ReadOptions): Promise<Entry[]>;
  /** Registers a checkpoint that has read up to `cursor`: `trim` keeps later entries. null removes `name`. */
  pin(stream: string, name: string, cursor: Offset | null): Promise<void>;
  /**
   * Deletes entries with offsets below `before`, and their keys; returns their number. StreamError "held", without
   * deleting any, if a registered checkpoint or a group has not read all of them.
   */
  trim(stream: string, before: Offset): Promise<number>;
  depth(stream: string, of?: DepthOf): Promise<Depth>;
  /**
   * Deletes all data of the run on a Redis server, which would otherwise keep it forever. The store must not be used
   * afterwards. Rejects with HONE_ERR_IO if the server does not allow it.
   */
  forget(): Promise<void>;
  /** Ends every waiting call with HONE_ERR_STATE. Idempotent. */
  close(): Promise<void>;
  /** Closes a store that is lost: every pending and later call rejects with `why` immediately. */
  abandon(why: HoneError): void;
}
