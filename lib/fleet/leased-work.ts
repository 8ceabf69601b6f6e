import { type EntrySize, type Lease, StreamError, type StreamStore } from "../streams/index.ts";
import type { FleetSettings } from "./names.ts";

/** Deliveries after which an entry is a poison message and is given up. */
export const MOST_DELIVERIES = 5;

export interface LeasedWorkOptions {
  readonly store: StreamStore;
  readonly settings: FleetSettings;
  /** Stream that is leased from, by which group of readers, and the stream of what came of it. */
  readonly asked: string;
  readonly group: string;
  readonly done: string;
  /** Throws where this process was taken for dead meanwhile. */
  readonly expectAlive: () => void;
}

/** The store's side of a process that does what others ask: what it has leased, and how leases end. */
export class LeasedWork {
  readonly #options: LeasedWorkOptions;
  /** Aborts the call that waits. */
  #waiting = new AbortController();

  constructor(options: LeasedWorkOptions) {
    this.#options = options;
  }

  /** Up to so many of what is there; none where `interrupt` ended the waiting. */
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

  /** Renews a lease. False if another process holds it by now. */
  renew(lease: Lease): Promise<boolean> {
    const { store, settings, expectAlive } = this.#options;
    expectAlive();
    return store.renew(lease, settings.leaseMs);
  }

  async end(lease: Lease, end: "done" | "retry" | { readonly dead: string }): Promise<void> {
    await this.#options.store.release(lease, end);
  }

  /** Ends the lease and appends the outcome atomically; does neither if another process holds the lease by now. */
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
