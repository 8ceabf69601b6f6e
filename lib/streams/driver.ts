import type { Depth, Entry, EntrySize, Lease, LeaseEnd, Offset } from "./store.ts";

/** Identifies one lease of one entry. */
export type Held = Pick<Lease, "stream" | "group" | "offset" | "token">;

export interface Appended {
  readonly stream: string;
  readonly key: string;
  readonly payload: Uint8Array;
  readonly size: EntrySize;
}

export interface Leased {
  readonly leases: readonly Pick<Lease, "offset" | "key" | "payload" | "deliveries" | "isAgain">[];
  /** Time until the next lease of any reader expires; undefined if there is none. Milliseconds. */
  readonly nextMs?: number;
}

/** Operations of a driver. Each is atomic and durable when it is done; none waits for entries. */
export interface Operations {
  append(o: Appended): Offset;
  /** Records the fence under which the lease was taken. */
  lease(
    o: {
      readonly stream: string;
      readonly group: string;
      readonly token: string;
      readonly max: number;
      readonly leaseMs: number;
      readonly maxDeliveries: number;
    },
    fence?: Fence,
  ): Leased;
  renew(o: Held & { readonly leaseMs: number }): boolean;
  /** With `keeps` the reader's lease of the entry does not end. */
  forward(o: Held & { readonly out: Appended; readonly keeps: boolean }): Offset | null;
  release(o: Held & { readonly end: LeaseEnd }): boolean;
  free(o: { readonly key: string; readonly as: "lost" | "retry" }): number;
  read(o: { readonly stream: string; readonly after: Offset; readonly max: number }): readonly Entry[];
  pin(o: { readonly stream: string; readonly name: string; readonly cursor: Offset | null }): null;
  trim(o: { readonly stream: string; readonly before: Offset }): number;
  depth(o: { readonly stream: string; readonly group?: string; readonly after?: Offset }): Depth;
  get(o: { readonly key: string }): string | null;
  set(o: { readonly key: string; readonly value: string }): null;
  cas(o: { readonly key: string; readonly expected: string | null; readonly value: string }): boolean;
  delete(o: { readonly key: string; readonly expected: string | null }): boolean;
  list(o: { readonly prefix: string }): readonly (readonly [key: string, value: string])[];
  setLease(o: { readonly key: string; readonly value: string; readonly ttlMs: number }): boolean;
}

export type OperationName = keyof Operations;
export type Arguments<K extends OperationName> = Parameters<Operations[K]>[0];
export type Result<K extends OperationName> = ReturnType<Operations[K]>;

/** The register that has to have a value; checked with the operation, atomically. */
export interface Fence {
  readonly key: string;
  readonly value: string;
}

/** The notification topic that all registers share; no stream may have this name. */
export const REGISTERS = ":kv";

/** Storage of a run's streams. Rejects with StreamError, with HONE_ERR_IO if it cannot be reached. */
export interface Driver {
  run<K extends OperationName>(name: K, args: Arguments<K>, fence?: Fence): Promise<Result<K>>;
  /**
   * Shortest and longest pause in milliseconds between two looks of a waiter without a notification; the pause grows
   * from the first to the second.
   */
  readonly pauseMs: { readonly first: number; readonly most: number };
  /** Called with the stream (or REGISTERS) that may have new data; with undefined for all of them. */
  onNews(listener: (topic: string | undefined) => void): void;
  /** Called before each look of a reader that waits at a topic: every later change must be notified at least once. */
  attend?(topic: string): void;
  /** Deletes all data of the run, for a store that outlives the run's processes. */
  forget?(): Promise<void>;
  close(): Promise<void>;
}
