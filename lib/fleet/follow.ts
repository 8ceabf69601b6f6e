import type { StreamStore } from "../streams/index.ts";

/** Entries of one look: outcomes of long rollouts are megabytes. */
const MOST = 16;
/** Entries that stay in the store behind what was read, so that one trim serves many. */
const TRIM_EVERY = 64;

export interface Follower {
  readonly receive: (key: string, payload: Uint8Array) => void;
  /** Beside dropping what was read. */
  readonly onTrim?: () => Promise<unknown>;
}

/** Hands over all that comes to a stream that has one reader, and drops it, until `signal` aborts. Rejects with what the store says. */
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
