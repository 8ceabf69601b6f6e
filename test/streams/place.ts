import type { StreamStore } from "../../lib/streams/index.ts";

/** Where a driver's streams lie during a test. */
export interface Place extends AsyncDisposable {
  /** Another object of the same streams; of a driver in memory, the one that there is. */
  open(): Promise<StreamStore>;
}

export interface DriverUnderTest {
  readonly name: string;
  /** Why it cannot be tested here, as in "skipped: ...". */
  readonly skipped?: string | undefined;
  /** An empty one. */
  place(): Promise<Place>;
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (payload: Uint8Array): string => new TextDecoder().decode(payload);

/** Whatever comes at once. */
export const ALL = { max: 1000, waitMs: 0 } as const;
/** Long enough that it never runs out during a test. */
export const HOUR_MS = 3_600_000;

export const append = async (
  store: StreamStore,
  stream: string,
  keys: readonly string[],
): Promise<number[]> => Promise.all(keys.map((key) => store.append(stream, key, bytes(`payload of ${key}`))));

export const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `k${i}`);
