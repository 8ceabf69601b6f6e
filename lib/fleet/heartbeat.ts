import { hostname } from "node:os";
import { HoneError } from "../errors.ts";
import type { KeyValues, StreamStore } from "../streams/index.ts";
import type { PublishedStatus } from "./membership.ts";
import { type FleetSettings, memberName, type PlaceName, REGISTERS, type Role } from "./names.ts";

/** Interval between renewals, and how long a lease lives without one. Milliseconds. */
export type HeartbeatSettings = Pick<FleetSettings, "beatMs" | "aliveMs">;

export interface LeaseOf {
  /** Register that holds the lease, and the name that this process writes there. */
  readonly key: string;
  readonly holder: string;
  /** Error message if another process holds the lease. Default: names the holder. */
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
   * Resolves after the first renewal, or rejects with its error. Renews until `close`, even after failures.
   * @param onFailure called with a renewal's error: the store's, or HONE_ERR_STATE if another process holds the lease
   */
  async begin(onFailure: (error: unknown) => void): Promise<void> {
    await this.beat();
    this.keep(onFailure);
  }

  /**
   * Like `begin`, but the first renewal is after one interval. Renewals do not wait for each other: while the store
   * is unreachable, a later one detects that this process missed its heartbeats for too long.
   */
  keep(onFailure: (error: unknown) => void): void {
    if (this.#closed) return;
    this.#timer = setInterval(() => void this.beat().catch(onFailure), this.#settings.beatMs);
  }

  /** Takes or renews the lease. False if another process holds it. */
  async renew(): Promise<boolean> {
    const begun = performance.now();
    if (!(await this.#kv.setLease(this.#lease.key, this.holder, this.#settings.aliveMs))) return false;
    this.#renewedAt = begun;
    return true;
  }

  /** Waits until another process's lease has been expired for two periods. False if that process renews it. */
  async acquire(): Promise<boolean> {
    const { beatMs, aliveMs } = this.#settings;
    const deadline = performance.now() + 2 * aliveMs;
    while (!(await this.renew())) {
      if (performance.now() > deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, beatMs / 2));
    }
    return true;
  }

  /**
   * Throws HONE_ERR_STATE for a process that goes on after a suspension beyond its lease: it must not write
   * any more.
   */
  readonly expectAlive = (): void => {
    if (performance.now() - this.#renewedAt > this.#settings.aliveMs) throw replaced(this.holder);
  };

  /** Stops renewing; the lease expires. */
  stop(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  /** Stops renewing the lease and releases it. */
  async close(): Promise<void> {
    this.stop();
    await this.#kv.delete(this.#lease.key, this.holder).catch(() => {}); // if this fails, the lease expires without it
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
  /** Generation of the process in its slot, or epoch of the ranks; a later one replaces an earlier one. */
  readonly generation: number;
  /** Name of the machine on which the process runs. Default: this machine's name. */
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
    // ranks that were all suspended together continue; watchdog.ts ends a single suspended rank
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

/** The error for a process whose slot another process has taken. */
const replaced = (
  holder: string,
  message = `${holder}: this process sent no heartbeat for too long and was replaced`,
): HoneError => new HoneError("HONE_ERR_STATE", message);

/**
 * How a process ended. "killed": by an external signal or a request to leave, regardless of its work; "failed":
 * possibly because of its work.
 */
export type LastEnd = "killed" | "failed";

/** Register of a slot's current generation: processes of earlier ones may not write. */
const fenceOf = (place: PlaceName): string =>
  place.startsWith("trainer.") ? REGISTERS.epoch : REGISTERS.generation(place);

/** From now on the store refuses this process's writes once its slot has a later generation. */
export function fence(store: StreamStore, place: PlaceName, generation: number): void {
  store.fence(fenceOf(place), String(generation));
}

/**
 * Returns the generation of the next process in a slot, fences the previous one and releases its leases. Each
 * released lease counts as a delivery attempt, unless the process was killed externally. Throws HONE_ERR_STATE if
 * another agent also fills the slot.
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
    throw new HoneError(
      "HONE_ERR_STATE",
      `${place}: another process has already started there, as epoch ${next}`,
      {
        hint: "Probably two agents have one node number: give every node its own.",
      },
    );
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
