import { type EntrySize, type Lease, type Offset, StreamError, type StreamStore } from "../streams/index.ts";
import type { FleetSettings } from "./names.ts";

/** Most entries per read. Outcomes of long rollouts are megabytes each. */
const MOST = 16;
/** Number of read entries that collect in the store before one trim removes them. */
const TRIM_EVERY = 64;

export interface Follower {
  readonly receive: (key: string, payload: Uint8Array) => void;
  /** Called in addition to trimming the entries that were read. */
  readonly onTrim?: () => Promise<unknown>;
}

/**
 * Delivers all entries of a stream with a single reader, and trims them, until `signal` aborts. Rejects with the
 * store's error.
 */
export async function follow(
  store: StreamStore,
  stream: string,
  signal: AbortSignal,
  { receive, onTrim }: Follower,
): Promise<void> {
  for (let after = 0, trimmed = 0; !signal.aborted; ) {
    const entries = await store
      .read(stream, after, { max: MOST, waitMs: 60_000, signal })
      .catch((error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      });
    for (const { key, payload, offset } of entries) {
      receive(key, payload);
      after = offset;
    }
    if (after - trimmed < TRIM_EVERY) continue;
    trimmed = after;
    await Promise.all([store.trim(stream, after), onTrim?.()]);
  }
}

/**
 * The caller's side of a log of numbered calls and of the stream of their replies: requests and outcomes, verifier
 * jobs and results, calls of a trainer and its ranks' replies. Finished calls are trimmed from the store.
 */
export class CallLog {
  readonly #store: StreamStore;
  readonly #calls: string;
  readonly #replies: string;
  /** Offsets in the stream of the pending calls that have been appended. */
  readonly #offsets = new Map<number, Offset>();
  readonly #ended = new Set<number>();
  #last: Offset = 0;
  #inOrder: Promise<unknown> = Promise.resolve();

  constructor(store: StreamStore, calls: string, replies: string) {
    this.#store = store;
    this.#calls = calls;
    this.#replies = replies;
  }

  async append(number: number, payload: Uint8Array, size?: EntrySize): Promise<void> {
    const offset = await this.#store.append(this.#calls, String(number), payload, size);
    this.#last = Math.max(this.#last, offset);
    if (!this.#ended.delete(number)) this.#offsets.set(number, offset);
  }

  /** Appends a call after all earlier ones, even if an earlier append is being retried. */
  say(number: number, payload: Uint8Array): Promise<void> {
    return this.#afterAll(() => this.append(number, payload));
  }

  /** Marks a call as answered or no longer awaited. */
  end(number: number): void {
    if (!this.#offsets.delete(number)) this.#ended.add(number);
  }

  /** Trims entries before a call that all readers have read. */
  async dropBefore(number: number): Promise<void> {
    const at = this.#offsets.get(number);
    if (at === undefined) return;
    for (const [each, offset] of this.#offsets) if (offset < at) this.#offsets.delete(each);
    await this.trim();
  }

  /** Trims every call once all of them are stored: the log has no readers any more. */
  dropAll(): Promise<void> {
    return this.#afterAll(() => {
      this.#offsets.clear();
      return this.trim();
    });
  }

  /**
   * Hands over every reply, until `signal` aborts. @param onTrim called when replies and finished calls are
   * trimmed
   */
  follow(signal: AbortSignal, receive: Follower["receive"], onTrim?: () => Promise<void>): Promise<void> {
    const trim = () => Promise.all([this.trim(), onTrim?.()]);
    return follow(this.#store, this.#replies, signal, { receive, onTrim: trim });
  }

  /** Trims entries before the oldest pending one. An aborted call may still be held by an actor; it is then trimmed next time. */
  async trim(): Promise<void> {
    const oldest = Math.min(this.#last + 1, ...this.#offsets.values());
    await this.#store.trim(this.#calls, oldest).catch((error: unknown) => {
      if (!(error instanceof StreamError) || error.why !== "held") throw error;
    });
  }

  #afterAll(work: () => Promise<void>): Promise<void> {
    const done = this.#inOrder.then(work);
    this.#inOrder = done.catch(() => {});
    return done;
  }
}

/** Deliveries after which an entry is a poison message and is given up. */
export const MOST_DELIVERIES = 5;

export interface LeasedWorkOptions {
  readonly store: StreamStore;
  readonly settings: FleetSettings;
  /** The stream and reader group to lease from, and the stream of results. */
  readonly asked: string;
  readonly group: string;
  readonly done: string;
  /** Throws if this process was declared dead. */
  readonly expectAlive: () => void;
}

/** The worker's side: entries that it has leased from a log, and their completion. */
export class LeasedWork {
  readonly #options: LeasedWorkOptions;
  /** Aborts the call that waits. */
  #waiting = new AbortController();

  constructor(options: LeasedWorkOptions) {
    this.#options = options;
  }

  /** Leases up to `max` available entries; none if `interrupt` ended the wait. */
  async next(max: number): Promise<readonly Lease[]> {
    const { store, settings, asked, group, expectAlive } = this.#options;
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    const options = { max, leaseMs: settings.leaseMs, waitMs: 60_000, signal };
    const leases = await store.lease(asked, group, options).catch((error) => {
      if (signal.aborted) return [];
      throw error;
    });
    expectAlive();
    return leases;
  }

  interrupt(): void {
    this.#waiting.abort();
  }

  /** Renews a lease. Returns false if another process holds it. */
  renew(lease: Lease): Promise<boolean> {
    const { store, settings, expectAlive } = this.#options;
    expectAlive();
    return store.renew(lease, settings.leaseMs);
  }

  async end(lease: Lease, end: "done" | "retry" | { readonly dead: string }): Promise<void> {
    await this.#options.store.release(lease, end);
  }

  /** Ends the lease and appends the outcome atomically; does neither if another process holds the lease. */
  async hand(lease: Lease, payload: Uint8Array, size: EntrySize): Promise<void> {
    const { store, done, expectAlive } = this.#options;
    expectAlive();
    try {
      await store.forward(lease, done, lease.key, payload, size);
    } catch (error) {
      if (!(error instanceof StreamError) || error.why !== "lease-lost") throw error;
    }
  }
}
