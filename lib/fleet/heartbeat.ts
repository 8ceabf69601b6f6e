import { hostname } from "node:os";
import { HoneError } from "../errors.ts";
import type { KeyValues, StreamStore } from "../streams/index.ts";
import type { PublishedStatus } from "./membership.ts";
import { type FleetSettings, memberName, type PlaceName, REGISTERS, type Role } from "./names.ts";

/** Interval between renewals, and how long a lease lives without one. Milliseconds. */
export type HeartbeatSettings = Pick<FleetSettings, "beatMs" | "aliveMs">;

export interface LeaseOf {
  /** Register of the lease, and the name of this process there. */
  readonly key: string;
  readonly holder: string;
  /** Message of the error where another process holds the lease. Default: the holder, replaced. */
  readonly replaced?: string;
}

/** A lease on a register, renewed until it is closed: others see by it that this process is alive. */
export class Heartbeat {
  readonly holder: string;
  readonly #kv: KeyValues;
  readonly #lease: LeaseOf;
  readonly #settings: HeartbeatSettings;
  #timer: NodeJS.Timeout | undefined;
  #renewedAt = performance.now();
  #closed = false;

  constructor(kv: KeyValues, lease: LeaseOf, settings: HeartbeatSettings) {
    this.#kv = kv;
    this.#lease = lease;
    this.holder = lease.holder;
    this.#settings = settings;
  }

  /**
   * Resolves after the first renewal; throws what that does. Renews until `close`, also after failures.
   * @param onFailure of a renewal: the store's error, or HONE_ERR_STATE where another process holds the lease
   */
  async begin(onFailure: (error: unknown) => void): Promise<void> {
    await this.beat();
    this.keep(onFailure);
  }

  /**
   * As `begin`, with the first renewal after one interval. It does not wait for a renewal to end: while the store is out of
   * reach, a later one finds that this process has been silent for too long.
   */
  keep(onFailure: (error: unknown) => void): void {
    if (this.#closed) return;
    this.#timer = setInterval(() => void this.beat().catch(onFailure), this.#settings.beatMs);
  }

  /** Takes or renews the lease. False where another process holds it. */
  async renew(): Promise<boolean> {
    const begun = performance.now();
    if (!(await this.#kv.setLease(this.#lease.key, this.holder, this.#settings.aliveMs))) return false;
    this.#renewedAt = begun;
    return true;
  }

  /** Waits while another process holds the lease, until that one's has expired twice. False if it is renewed. */
  async acquire(): Promise<boolean> {
    const { beatMs, aliveMs } = this.#settings;
    const deadline = performance.now() + 2 * aliveMs;
    while (!(await this.renew())) {
      if (performance.now() > deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, beatMs / 2));
    }
    return true;
  }

  /** Throws HONE_ERR_STATE for a process that was stopped and goes on: it must not write any more. */
  readonly expectAlive = (): void => {
    if (performance.now() - this.#renewedAt > this.#settings.aliveMs) throw replaced(this.holder);
  };

  /** Stops renewing; the lease expires. */
  stop(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  /** Stops renewing and gives the lease back. */
  async close(): Promise<void> {
    this.stop();
    await this.#kv.delete(this.#lease.key, this.holder).catch(() => {}); // it expires by itself
  }

  protected async beat(): Promise<void> {
    if (!(await this.renew())) throw replaced(this.holder, this.#lease.replaced);
  }
}

/** Identity of a process that fills a place. */
export interface MemberParts {
  readonly store: StreamStore;
  /** Index among the processes of its role: 0, 1, ... */
  readonly index: number;
  /** Generation of the process in its place, or epoch of the ranks; a later one replaces an earlier one. */
  readonly generation: number;
  /** Machine it runs on. Default: this machine's name. */
  readonly host?: string;
}

/** The heartbeat of an actor, a verifier host or a trainer's rank, with its status. */
export class MemberHeartbeat extends Heartbeat {
  readonly #parts: MemberParts;
  readonly #place: PlaceName;
  readonly #isRank: boolean;
  readonly #work: () => MemberWork;

  /** @param work status at this moment */
  constructor(role: Role, parts: MemberParts, settings: HeartbeatSettings, work: () => MemberWork) {
    const place: PlaceName = `${role}.${parts.index}`;
    const holder = memberName(place, parts.generation);
    super(parts.store.kv, { key: REGISTERS.beat(place), holder }, settings);
    this.#parts = parts;
    this.#place = place;
    this.#isRank = role === "trainer";
    this.#work = work;
  }

  protected override async beat(): Promise<void> {
    const { store, host = hostname() } = this.#parts;
    // ranks that were stopped all at once go on; one alone is ended (watchdog.ts)
    if (!this.#isRank) this.expectAlive();
    else if (!(await this.#isCurrent())) throw replaced(this.holder);
    if (!(await this.renew()) && !(await this.#takeOver())) throw replaced(this.holder);
    const status: PublishedStatus = { member: this.holder, pid: process.pid, host, ...this.#work() };
    await store.kv.set(REGISTERS.status(this.#place), JSON.stringify(status));
  }

  async #isCurrent(): Promise<boolean> {
    const { store, generation } = this.#parts;
    return (await store.kv.get(fenceOf(this.#place))) === String(generation);
  }

  /** Ends the lease of an earlier process, which has lost the place to this one. */
  async #takeOver(): Promise<boolean> {
    if (!(await this.#isCurrent())) return false;
    await this.#parts.store.kv.delete(REGISTERS.beat(this.#place));
    return this.renew();
  }
}

export type MemberWork = Omit<PublishedStatus, "member" | "pid" | "host">;

/** The end of a process that another took the place of. */
const replaced = (
  holder: string,
  message = `${holder}: this process was out of touch for too long and was replaced`,
): HoneError => new HoneError("HONE_ERR_STATE", message);

/**
 * How a process ended. "killed": from outside, whatever it was doing, or told to leave; "failed": its own work may be
 * the cause.
 */
export type LastEnd = "killed" | "failed";

/** Register of the current generation of a place: processes of earlier ones may not write. */
const fenceOf = (place: PlaceName): string =>
  place.startsWith("trainer.") ? REGISTERS.epoch : REGISTERS.generation(place);

/** From here on a store refuses what this process writes once its place has a later generation. */
export function fence(store: StreamStore, place: PlaceName, generation: number): void {
  store.fence(fenceOf(place), String(generation));
}

/**
 * Number of the next process in a place. The one before is fenced from here on and its leases are released at once.
 * Each released lease counts as a delivery, unless the process was killed from outside, which is not its work's fault.
 * Throws HONE_ERR_STATE if another agent fills the place too.
 */
export async function nextGeneration(
  store: Pick<StreamStore, "kv" | "free">,
  place: PlaceName,
  last: LastEnd = "failed",
): Promise<number> {
  const { kv } = store;
  const register = REGISTERS.generation(place);
  const before = await kv.get(register);
  const next = Number(before ?? 0) + 1;
  if (!(await kv.cas(register, before ?? null, String(next))))
    throw new HoneError("HONE_ERR_STATE", `${place}: another process has taken epoch ${next}`, {
      hint: "Two agents have the same number: each node needs its own.",
    });
  if (before === undefined) return next;
  await Promise.all([
    store.free(register, last === "killed" ? "retry" : "lost"),
    kv.delete(REGISTERS.beat(place), memberName(place, next - 1)),
  ]);
  return next;
}

/** Reserves ranks for processes of a role that join a run. @param begun number of processes that the run began with */
export async function joiningRanks(
  kv: KeyValues,
  role: Exclude<Role, "trainer">,
  begun: number,
  count: number,
): Promise<number[]> {
  const register = REGISTERS.joined(role);
  for (;;) {
    const before = await kv.get(register);
    const first = begun + Number(before ?? 0);
    if (await kv.cas(register, before ?? null, String(Number(before ?? 0) + count)))
      return Array.from({ length: count }, (_, i) => first + i);
  }
}
