import { HoneError } from "../errors.ts";
import type { PipelineStatus } from "../metrics/index.ts";
import type { EngineStats } from "../native/face.ts";
import { type KeyValues, openStore, type StreamStore } from "../streams/index.ts";
import { type FleetSettings, type PlaceName, REGISTERS, type Role } from "./names.ts";

/** A live process of the fleet, as its last heartbeat describes it. */
export interface MemberStatus {
  /** Slot and generation of the process, "actor.1#2"; the generation of a trainer's rank is its epoch. */
  readonly member: string;
  readonly place: PlaceName;
  readonly index: number;
  readonly generation: number;
  readonly pid: number;
  /** Machine on which the process runs. */
  readonly host: string;
  /** For an actor: version and statistics of each engine, by name. */
  readonly engines: Readonly<Record<string, EngineStats>>;
  /** For a verifier host: jobs in progress, and completions judged so far. */
  readonly judging?: { readonly jobs: number; readonly judged: number };
  /** For a trainer's rank: finished calls, whether a call is running, and processor time of all its threads. */
  readonly training?: { readonly done: number; readonly busy: boolean; readonly cpuSeconds: number };
}

const COUNTERS = [
  "steps",
  "prefillTokens",
  "decodeTokens",
  "preemptions",
  "weightSwaps",
  "finished",
  "busySeconds",
  "prefillSeconds",
  "decodeSeconds",
  "pageSwapSeconds",
  "weightSwapSeconds",
  "takenUp",
  "takenUpTokens",
] as const satisfies readonly (keyof EngineStats)[];
const GAUGES = [
  "waiting",
  "running",
  "pagesUsed",
  "pagesTotal",
  "unrecordedTokens",
] as const satisfies readonly (keyof EngineStats)[];

export const NO_STATS: EngineStats = {
  ...(Object.fromEntries([...COUNTERS, ...GAUGES].map((field) => [field, 0])) as Omit<
    EngineStats,
    "version"
  >),
  version: 0,
};

/** The live processes of a fleet: polls their leases and statuses. */
export class Membership {
  readonly #store: StreamStore;
  readonly #settings: FleetSettings;
  readonly #listeners = new Set<() => void>();
  /** Last statistics of every process that ever published any; those of exited processes still count. */
  readonly #heard = new Map<string, Map<string, EngineStats>>();
  #alive = new Map<string, MemberStatus>();
  readonly #seen = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(store: StreamStore, settings: FleetSettings) {
    this.#store = store;
    this.#settings = settings;
  }

  /** Actors, in the order of their indices. */
  get alive(): readonly MemberStatus[] {
    return this.#of("actor");
  }

  /** Live verifier hosts. */
  get hosts(): readonly MemberStatus[] {
    return this.#of("verifier");
  }

  /** The trainer's ranks of the current epoch, in their order. */
  get ranks(): readonly MemberStatus[] {
    return this.#of("trainer");
  }

  #of(role: Role): MemberStatus[] {
    return byRole([...this.#alive.values()], role);
  }

  isAlive(member: string): boolean {
    return this.#alive.has(member);
  }

  /** True if the process had a heartbeat earlier and has none now. */
  wasLost(member: string): boolean {
    return this.#seen.has(member) && !this.isAlive(member);
  }

  /** True if the process ever had a heartbeat. */
  wasSeen(member: string): boolean {
    return this.#seen.has(member);
  }

  /** Polls until `close`. @param onFailure receives the store's error. */
  watch(onFailure: (error: unknown) => void): void {
    const look = () => void this.look().then(again, (error) => this.#closed || onFailure(error));
    const again = () => {
      if (this.#closed) return;
      // after this process was stopped or busy for long, it first reads what other processes published
      // meanwhile
      this.#timer = setTimeout(() => setImmediate(look), this.#settings.beatMs).unref();
    };
    again();
  }

  async look(): Promise<void> {
    const found = await readMembers(this.#store.kv);
    for (const { member, engines } of found)
      for (const [engine, stats] of Object.entries(engines)) this.heard(member, engine, stats);
    this.#alive = new Map(found.map((each) => [each.member, each]));
    for (const member of this.#alive.keys()) this.#seen.add(member);
    for (const listener of this.#listeners) listener();
  }

  /** Processes that are ready now: each has a heartbeat, which a rank begins when all ranks are connected. */
  async ready(): Promise<ReadyProcess[]> {
    await this.look();
    return [...this.ranks, ...this.alive, ...this.hosts].map(({ place, index, generation, host, pid }) => {
      return { role: roleOf(place), rank: index, epoch: generation, host, pid };
    });
  }

  /** Takes an actor's statistics that arrived with an outcome. */
  heard(member: string, engine: string, stats: EngineStats): void {
    const engines = this.#heard.get(member) ?? new Map<string, EngineStats>();
    const before = engines.get(engine);
    if (before === undefined || stats.steps >= before.steps) engines.set(engine, stats);
    this.#heard.set(member, engines);
  }

  /** Calls the listener after every poll; returns a function that unsubscribes it. */
  onLook(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Statistics of an engine over all actors: totals include exited actors, current values only live ones. */
  stats(engine: string): EngineStats {
    const sum: Record<string, number> = { ...NO_STATS };
    for (const [member, engines] of this.#heard) {
      const stats = engines.get(engine);
      if (stats === undefined) continue;
      for (const field of COUNTERS) sum[field]! += stats[field] ?? 0;
      if (this.isAlive(member)) for (const field of GAUGES) sum[field]! += stats[field] ?? 0;
      else if (this.wasLost(member))
        sum["lostTokens"] = (sum["lostTokens"] ?? 0) + (stats.unrecordedTokens ?? 0);
    }
    return sum as unknown as EngineStats;
  }

  forget(engine: string): void {
    for (const engines of this.#heard.values()) engines.delete(engine);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}

/** Settings that the coordinator wrote for all processes. Throws HONE_ERR_STATE if there are none. */
export async function fleetSettings(store: StreamStore): Promise<FleetSettings> {
  const text = await store.kv.waitFor(REGISTERS.settings, { waitMs: 60_000 });
  if (text !== undefined) return JSON.parse(text) as FleetSettings;
  throw new HoneError("HONE_ERR_STATE", "no coordinator has opened a fleet in this store", {
    hint: "Start the run first: `hone run` with hardware.processes, and --store where this process looks.",
  });
}

/** Folder for weights, as the coordinator set it. */
export async function weightsFolder(store: StreamStore): Promise<string> {
  const folder = await store.kv.get(REGISTERS.folder);
  if (folder !== undefined) return folder;
  throw new HoneError("HONE_ERR_STATE", "the coordinator named no folder for weights");
}

const roleOf = (place: PlaceName): Role => place.split(".")[0] as Role;

const byRole = (members: readonly MemberStatus[], role: Role): MemberStatus[] =>
  members.filter(({ place }) => roleOf(place) === role);

/**
 * Processes with a lease and a status of the same generation, in the order of their indices; only ranks of
 * the current epoch.
 */
export async function readMembers(kv: KeyValues): Promise<MemberStatus[]> {
  const [beats, statuses, epoch] = await Promise.all([
    kv.list(REGISTERS.beats),
    kv.list(REGISTERS.statuses),
    kv.get(REGISTERS.epoch),
  ]);
  const found = [...beats].flatMap(([key, member]): MemberStatus[] => {
    const place = key.slice(REGISTERS.beats.length) as PlaceName;
    const text = statuses.get(REGISTERS.status(place));
    const status = text === undefined ? undefined : (JSON.parse(text) as PublishedStatus);
    if (status?.member !== member) return []; // the process is between its first heartbeat and its first status
    const generation = Number(member.split("#")[1]);
    if (roleOf(place) === "trainer" && String(generation) !== epoch) return [];
    return [{ place, index: Number(place.split(".")[1]), generation, ...status }];
  });
  return found.sort((a, b) => a.index - b.index);
}

/** The status that a process publishes with its heartbeat; slot and generation are those of its lease. */
export type PublishedStatus = Omit<MemberStatus, "place" | "index" | "generation">;

/** A process that fills its slot and has a heartbeat. */
export interface ReadyProcess {
  readonly role: Role;
  readonly rank: number;
  /** How often its slot has been started (generation); for trainer ranks, the epoch of their group. */
  readonly epoch: number;
  /** Address, or name, of its machine. */
  readonly host: string;
  readonly pid: number;
}

/**
 * Waits until every wanted process is ready and returns them. Throws HONE_ERR_COLLECTIVE naming those missing at the
 * deadline.
 * @param look returns the processes that are ready now
 * @param wanted slots, "actor.0"
 */
export async function awaitReadiness(
  look: () => Promise<readonly ReadyProcess[]>,
  wanted: readonly string[],
  waitMs: number,
): Promise<readonly ReadyProcess[]> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const present = await look();
    const names = new Set(present.map(({ role, rank }) => `${role}.${rank}`));
    const missing = wanted.filter((name) => !names.has(name));
    if (missing.length === 0) return present;
    if (performance.now() > deadline)
      throw new HoneError(
        "HONE_ERR_COLLECTIVE",
        `${missing.join(", ")} of ${wanted.length} processes did not join within ${Math.round(waitMs / 1000)} s`,
        { hint: "Their output is in logs/ of the run folder; that of other nodes in logs/node-<n>/." },
      );
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

const LOOK_MS = 200;

/**
 * Actors and verifier hosts with a heartbeat in a run's store, whether or not its coordinator is alive. Rejects with
 * the store's error: StreamError "lost" where it does not know the run, HONE_ERR_IO where it cannot be reached.
 */
export async function liveMembers({
  address,
  run,
}: NonNullable<PipelineStatus["store"]>): Promise<readonly MemberStatus[]> {
  await using store = await openStore(address, { run, mustExist: true });
  const members = await readMembers(store.kv);
  return [...byRole(members, "actor"), ...byRole(members, "verifier")];
}
