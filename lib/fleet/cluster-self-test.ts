import { randomUUID } from "node:crypto";
import { HoneError } from "../errors.ts";
import type { CommunicatorFace, CommunicatorOptions } from "../native/group-face.ts";
import type { StreamStore } from "../streams/index.ts";
import { connectRanks } from "./communicator-transport.ts";
import { Heartbeat } from "./heartbeat.ts";
import { SETTINGS } from "./names.ts";

export interface SelfTestOptions extends RankRendezvousOptions {
  /** Deadline of a collective in tests in which one rank deliberately does not take part. Milliseconds. */
  readonly deadlineMs: number;
  /** Sizes of the timed arrays. Bytes. */
  readonly sizes: readonly number[];
  readonly make: (options: CommunicatorOptions) => CommunicatorFace;
}

/** A collective, timed: the slowest rank's median. */
export interface Timing {
  readonly call: "barrier" | "all-reduce" | "broadcast";
  /** Size of the array on each rank. */
  readonly bytes: number;
  readonly seconds: number;
}

/** Outcome of a test in which a rank deliberately misbehaves. */
export interface SelfTest {
  readonly what: string;
  /** Ranks that were not notified in time, or did not learn the cause. */
  readonly failed: readonly number[];
  /** Seconds until the last of the other ranks was notified. */
  readonly seconds: number;
  /** Message of the error that this rank received. */
  readonly words: string;
}

export interface SelfTestReport {
  readonly ranks: readonly Present[];
  readonly timings: readonly Timing[];
  readonly drills: readonly SelfTest[];
}

const REPEATS = 5;
/**
 * A rank may report a missed deadline this many times the deadline late, since its process may be scheduled
 * late.
 */
const GRACE = 2;

/**
 * Runs this rank's part in a self-test of a cluster: all ranks connect, time their collectives, and check that a rank
 * that does not take part is reported to the others in time. Throws HONE_ERR_COLLECTIVE naming ranks that are missing
 * or that are lost on the way, and for a sum or a copy that is wrong.
 */
export async function selfTestRank(options: SelfTestOptions): Promise<SelfTestReport> {
  await using rendezvous = await RankRendezvous.open(options);
  try {
    return await new ClusterSelfTest(options, rendezvous).run();
  } catch (error) {
    if (!HoneError.is(error) || error.code !== "HONE_ERR_COLLECTIVE") throw error;
    const gone = await rendezvous.gone();
    if (gone.length === 0) throw error;
    throw new HoneError(
      "HONE_ERR_COLLECTIVE",
      `rank(s) ${gone.join(", ")} no longer respond: ${error.message}`,
    );
  }
}

class ClusterSelfTest {
  readonly #options: SelfTestOptions;
  readonly #rendezvous: RankRendezvous;
  #all!: CommunicatorFace;

  constructor(options: SelfTestOptions, rendezvous: RankRendezvous) {
    this.#options = options;
    this.#rendezvous = rendezvous;
  }

  async run(): Promise<SelfTestReport> {
    const { waitMs, rank } = this.#options;
    this.#all = await this.#connect("all", waitMs, waitMs);
    try {
      const timings = await this.#timings();
      const drills = [
        await this.#selfTest("does not connect", (last) => this.#absent(last)),
        await this.#selfTest("is silent in a collective", (last) => this.#silent(last)),
        await this.#selfTest("makes another call", (last) => this.#other(last)),
      ];
      await this.#all.barrier();
      if (rank === 0) await this.#clear();
      return { ranks: this.#rendezvous.ranks, timings, drills };
    } finally {
      this.#all.abort("the self-test is over");
      await this.#all.close().catch(() => {}); // the communicator may be lost
    }
  }

  get #last(): number {
    return this.#options.size - 1;
  }

  #connect(name: string, gatherMs: number, collectiveMs: number): Promise<CommunicatorFace> {
    const { store, rank, size, make } = this.#options;
    const links = `${this.#registers}${name}/`;
    const settings = { gatherMs, collectiveMs };
    const { signal } = new AbortController();
    return connectRanks({ store, rank, size, links, name: "the self-test", settings, signal, make });
  }

  get #registers(): string {
    return `rendezvous/${this.#rendezvous.id}/`;
  }

  async #clear(): Promise<void> {
    const { kv } = this.#options.store;
    for (const key of (await kv.list(this.#registers)).keys()) await kv.delete(key);
  }

  async #timings(): Promise<Timing[]> {
    const timings: Timing[] = [
      { call: "barrier", bytes: 0, seconds: await this.#time(() => this.#all.barrier()) },
    ];
    for (const bytes of this.#options.sizes)
      for (const call of ["all-reduce", "broadcast"] as const)
        timings.push({ call, bytes, seconds: await this.#time(() => this.#checked(call, bytes)) });
    return timings;
  }

  async #time(call: () => Promise<unknown>): Promise<number> {
    await call(); // warm-up: connections grow their windows
    const each: number[] = [];
    for (let i = 0; i < REPEATS; i++) {
      await this.#all.barrier();
      const begun = performance.now();
      await call();
      each.push(performance.now() - begun);
    }
    const median = each.sort((a, b) => a - b)[REPEATS >> 1]!;
    const [slowest] = await this.#all.allReduce(Float64Array.of(median / 1000), "max");
    return slowest!;
  }

  /** Runs a collective and compares its result with the known one. */
  async #checked(call: "all-reduce" | "broadcast", bytes: number): Promise<void> {
    const { rank, size } = this.#options;
    const values = new Float32Array(bytes / 4).fill(rank + 1);
    const [result, wanted] =
      call === "all-reduce"
        ? [await this.#all.allReduce(values, "sum"), (size * (size + 1)) / 2]
        : [await this.#all.broadcast(values, this.#last), size];
    if (result.length === values.length && result[0] === wanted && result.at(-1) === wanted) return;
    throw new HoneError(
      "HONE_ERR_COLLECTIVE",
      `${call} of ${bytes} bytes came out as ${result[0]}, not ${wanted}`,
    );
  }

  /** @param part this rank's work; returns the error it received, if that error names the last rank */
  async #selfTest(what: string, part: (last: boolean) => Promise<string | undefined>): Promise<SelfTest> {
    const { rank, size, deadlineMs } = this.#options;
    await this.#all.barrier();
    const begun = performance.now();
    const words = await part(rank === this.#last);
    const seconds = (performance.now() - begun) / 1000;
    const isRight = words !== undefined && seconds * 1000 < deadlineMs * GRACE;
    const own = Float64Array.of(isRight || rank === this.#last ? 1 : 0, rank === this.#last ? 0 : seconds);
    const everybody = await this.#all.allGather(own);
    const failed = Array.from({ length: size }, (_, i) => i).filter((i) => everybody[2 * i] === 0);
    const slowest = Math.max(...Array.from({ length: size }, (_, i) => everybody[2 * i + 1]!));
    return { what: `rank ${this.#last} ${what}`, failed, seconds: slowest, words: words ?? "" };
  }

  async #absent(last: boolean): Promise<string | undefined> {
    const { deadlineMs } = this.#options;
    if (last) return undefined;
    return await this.#told(async () => {
      const group = await this.#connect("absent", deadlineMs, deadlineMs);
      await group.close();
    });
  }

  /** Connects and stays alive but makes no call. Its status in the store names it. */
  async #silent(last: boolean): Promise<string | undefined> {
    const { deadlineMs, store, rank, size, waitMs } = this.#options;
    const group = await this.#connect("silent", waitMs, deadlineMs);
    if (!last) await store.kv.set(`${this.#registers}called/${rank}`, "");
    const words = last ? undefined : await this.#told(() => group.barrier());
    await this.#all.barrier();
    group.abort("the self-test is over");
    await group.close().catch(() => {}); // the group is lost
    if (words === undefined) return undefined;
    const called = await store.kv.list(`${this.#registers}called/`);
    const silent = Array.from({ length: size }, (_, i) => i).filter(
      (i) => !called.has(`${this.#registers}called/${i}`),
    );
    return silent.join() === String(this.#last) ? `rank ${this.#last} did not call: ${words}` : undefined;
  }

  async #other(last: boolean): Promise<string | undefined> {
    const { deadlineMs, waitMs } = this.#options;
    const group = await this.#connect("other", waitMs, deadlineMs);
    const words = await this.#told(() => group.allReduce(new Float32Array(last ? 3 : 2), "sum"));
    await this.#all.barrier();
    group.abort("the self-test is over");
    await group.close().catch(() => {}); // the group is lost
    return words?.includes(`rank ${this.#last}`) ? words : undefined;
  }

  /** Message of the HONE_ERR_COLLECTIVE that `work` throws; undefined for any other outcome. */
  async #told(work: () => Promise<unknown>): Promise<string | undefined> {
    try {
      await work();
      return undefined;
    } catch (error) {
      return HoneError.is(error) && error.code === "HONE_ERR_COLLECTIVE" ? error.message : undefined;
    }
  }
}

/** A rank without renewal for this long counts as dead; a failed test waits for it to name the rank. */
const LEASE_MS = 5_000;
const LOOK_MS = 100;

/** A rank, as the other ranks see it. */
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
  /** Time limit for all ranks to be present. Milliseconds. */
  readonly waitMs: number;
}

const here = (rank: number): string => `rendezvous/here/${rank}`;
const CALLED = "rendezvous/called";

/**
 * Ranks that find each other in a store that other groups may have used: each publishes its presence under a lease,
 * and the first rank collects them.
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

  /** Throws HONE_ERR_COLLECTIVE naming the ranks that did not connect in time. */
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

  /** Ranks whose lease has expired; waits up to five seconds for a lease to expire. */
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
  const settings = { beatMs: SETTINGS.beatMs, aliveMs: LEASE_MS };
  const heartbeat = new Heartbeat(store.kv, { key, holder: word }, settings);
  void heartbeat.renew().catch(() => {}); // if the renewal fails, the other ranks report this rank as missing
  heartbeat.keep(() => {});
  return () => heartbeat.close();
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
    `rank(s) ${missing.join(", ")}${of} did not connect within ${Math.round(waitMs / 1000)} s`,
    { hint: "They were not started, cannot reach the store, or ended: see their logs." },
  );
}
