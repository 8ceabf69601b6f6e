import type { StreamStore } from "../../lib/streams/index.ts";

/** A place where a driver's streams lie during a test. */
export interface Place extends AsyncDisposable {
  /** Opens another object on the same streams; a driver in memory returns its only one. */
  open(): Promise<StreamStore>;
}

export interface DriverUnderTest {
  readonly name: string;
  /** The reason for which the driver cannot be tested here, as in "skipped: ...". */
  readonly skipped?: string | undefined;
  /** Makes an empty place. */
  place(): Promise<Place>;
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (payload: Uint8Array): string => new TextDecoder().decode(payload);

/** Options of a read that takes what is there and does not wait. */
export const ALL = { max: 1000, waitMs: 0 } as const;
/** Long enough that it never runs out during a test. */
export const HOUR_MS = 3_600_000;

export const append = async (
  store: StreamStore,
  stream: string,
  keys: readonly string[],
): Promise<number[]> => Promise.all(keys.map((key) => store.append(stream, key, bytes(`payload of ${key}`))));

export const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `k${i}`);
