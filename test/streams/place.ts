import type { StreamStore } from "../../lib/streams/index.ts";

/** Holds a driver's streams during a test. */
export interface Place extends AsyncDisposable {
  /** Opens another store on the same streams; the in-memory driver returns its only one. */
  open(): Promise<StreamStore>;
}

export interface DriverUnderTest {
  readonly name: string;
  /** Why the driver cannot be tested here, as in "skipped: ...". */
  readonly skipped?: string | undefined;
  /** Makes an empty place. */
  place(): Promise<Place>;
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (payload: Uint8Array): string => new TextDecoder().decode(payload);

/** Options of a read that returns what is there without waiting. */
export const ALL = { max: 1000, waitMs: 0 } as const;
/** Longer than any test, so that it never expires. */
export const HOUR_MS = 3_600_000;

export const append = async (
  store: StreamStore,
  stream: string,
  keys: readonly string[],
): Promise<number[]> => Promise.all(keys.map((key) => store.append(stream, key, bytes(`payload of ${key}`))));

export const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `k${i}`);
