import { randomUUID } from "node:crypto";
import { HoneError } from "../errors.ts";
import type { StreamStore } from "../streams/index.ts";

/** Without renewal for so long a rank counts as gone. */
const LEASE_MS = 5_000;
const LOOK_MS = 100;

/** A rank, as the others see it. */
export interface Present {
  readonly rank: number;
  readonly host: string;
  readonly pid: number;
  /** Differs between rendezvous: entries of an earlier one in the store have another nonce. */
  readonly nonce: string;
}

export interface RankRendezvousOptions {
  readonly store: StreamStore;
  readonly rank: number;
  readonly size: number;
  readonly host: string;
  /** For all to be there. */
  readonly waitMs: number;
}

const here = (rank: number): string => `rendezvous/here/${rank}`;
const CALLED = "rendezvous/called";

/**
 * Ranks that find each other in a store that may have seen others before: each says that it is there, by a lease, and the
 * first one calls the roll.
 */
export class RankRendezvous implements AsyncDisposable {
  /** Unique to this rendezvous. */
  readonly id: string;
  readonly ranks: readonly Present[];
  readonly #store: StreamStore;
  readonly #own: () => Promise<void>;

  private constructor(store: StreamStore, roll: Roll, own: () => Promise<void>) {
    this.id = roll.id;
    this.ranks = roll.ranks;
    this.#store = store;
    this.#own = own;
  }

  /** Throws HONE_ERR_COLLECTIVE naming the ranks that were not there in time. */
  static async open(options: RankRendezvousOptions): Promise<RankRendezvous> {
    const { store, rank, size, host, waitMs } = options;
    const own: Present = { rank, host, pid: process.pid, nonce: randomUUID() };
    const leave = stay(store, own);
    try {
      const roll = await (rank === 0 ? announceRanks(store, size, waitMs) : awaitRanks(store, own, waitMs));
      const missing = Array.from({ length: size }, (_, i) => i).filter(
        (i) => !roll.ranks.some((each) => each.rank === i),
      );
      if (missing.length > 0) throw absent(missing, size, waitMs);
      return new RankRendezvous(store, roll, leave);
    } catch (error) {
      await leave();
      throw error;
    }
  }

  /** Ranks whose lease has expired; waits up to five seconds for that. */
  async gone(): Promise<number[]> {
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS + LOOK_MS));
    const alive = await this.#store.kv.list(here(0).slice(0, -1));
    return this.ranks.map(({ rank }) => rank).filter((rank) => !alive.has(here(rank)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#own();
  }
}

interface Roll {
  readonly id: string;
  readonly ranks: readonly Present[];
}

/** Keeps a rank's lease until the returned function is called. */
function stay(store: StreamStore, own: Present): () => Promise<void> {
  const key = here(own.rank);
  const word = JSON.stringify(own);
  const renew = () => void store.kv.setLease(key, word, LEASE_MS).catch(() => {}); // the other ranks see it missing
  const timer = setInterval(renew, LEASE_MS / 5);
  renew();
  return async () => {
    clearInterval(timer);
    await store.kv.delete(key, word).catch(() => {}); // it runs out
  };
}

async function announceRanks(store: StreamStore, size: number, waitMs: number): Promise<Roll> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const words = [...(await store.kv.list(here(0).slice(0, -1))).values()];
    const ranks = words.map((word) => JSON.parse(word) as Present).sort((a, b) => a.rank - b.rank);
    if (ranks.length >= size || performance.now() > deadline) {
      const roll = { id: randomUUID(), ranks };
      await store.kv.set(CALLED, JSON.stringify(roll));
      return roll;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function awaitRanks(store: StreamStore, own: Present, waitMs: number): Promise<Roll> {
  const deadline = performance.now() + waitMs + LEASE_MS;
  while (performance.now() < deadline) {
    const text = await store.kv.get(CALLED);
    const roll = text === undefined ? undefined : (JSON.parse(text) as Roll);
    if (roll?.ranks.some(({ nonce }) => nonce === own.nonce)) return roll;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw absent([0], 0, waitMs);
}

function absent(missing: readonly number[], size: number, waitMs: number): HoneError {
  const of = size > 0 ? ` of ${size}` : "";
  return new HoneError(
    "HONE_ERR_COLLECTIVE",
    `rank(s) ${missing.join(", ")}${of} were not there within ${Math.round(waitMs / 1000)} s`,
    { hint: "They were not started, do not reach the store, or ended: what they said is in their logs." },
  );
}
