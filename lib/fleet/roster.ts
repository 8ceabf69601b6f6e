import type { EngineStats } from "../native/face.ts";
import type { StreamStore } from "../streams/index.ts";
import { type FleetSettings, type PlaceName, REGISTERS } from "./names.ts";

/** Status that an actor or a verifier host publishes with every heartbeat. */
export interface Beat {
  readonly member: string;
  readonly pid: number;
  /** Machine it runs on. */
  readonly host: string;
  /** Version and statistics of each of an actor's engines, by name. */
  readonly engines: Readonly<Record<string, EngineStats>>;
  /** Of a verifier host: jobs in progress, and completions judged so far. */
  readonly judging?: { readonly jobs: number; readonly judged: number };
}

/** One that is alive. */
export interface MemberStatus extends Beat {
  readonly place: PlaceName;
  readonly index: number;
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

/** Live actors and verifier hosts, as the coordinator sees them: polls their registers. */
export class Roster {
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

  /** Actors, in the order of their names. */
  get alive(): readonly MemberStatus[] {
    return this.#of("actor.");
  }

  /** Verifier hosts, in the order of their names. */
  get hosts(): readonly MemberStatus[] {
    return this.#of("verifier.");
  }

  #of(role: string): MemberStatus[] {
    const all = [...this.#alive.values()].filter(({ place }) => place.startsWith(role));
    return all.sort((a, b) => a.index - b.index);
  }

  isAlive(member: string): boolean {
    return this.#alive.has(member);
  }

  /** True if it was alive once and is no longer. */
  wasLost(member: string): boolean {
    return this.#seen.has(member) && !this.isAlive(member);
  }

  /** True if it ever had a heartbeat. */
  wasSeen(member: string): boolean {
    return this.#seen.has(member);
  }

  /** Looks until `close`. @param onFailure of the store. */
  watch(onFailure: (error: unknown) => void): void {
    const look = () => void this.look().then(again, (error) => this.#closed || onFailure(error));
    const again = () => {
      if (this.#closed) return;
      // after this process was stopped or busy for long, it first reads what others published meanwhile
      this.#timer = setTimeout(() => setImmediate(look), this.#settings.beatMs).unref();
    };
    again();
  }

  async look(): Promise<void> {
    const { kv } = this.#store;
    const [beats, words] = await Promise.all([kv.list(REGISTERS.beats), kv.list(REGISTERS.words)]);
    const found = new Map<string, MemberStatus>();
    for (const [key, member] of beats) {
      const place = key.slice(REGISTERS.beats.length) as PlaceName;
      const text = words.get(REGISTERS.word(place));
      const word = text === undefined ? undefined : (JSON.parse(text) as Beat);
      if (word?.member !== member) continue; // between its first beat and its first word
      found.set(member, { place, index: Number(place.split(".")[1]), ...word });
      for (const [engine, stats] of Object.entries(word.engines)) this.heard(member, engine, stats);
    }
    this.#alive = found;
    for (const member of found.keys()) this.#seen.add(member);
    for (const listener of this.#listeners) listener();
  }

  /** Takes an actor's statistics that arrived with an outcome. */
  heard(member: string, engine: string, stats: EngineStats): void {
    const engines = this.#heard.get(member) ?? new Map<string, EngineStats>();
    const before = engines.get(engine);
    if (before === undefined || stats.steps >= before.steps) engines.set(engine, stats);
    this.#heard.set(member, engines);
  }

  /** Called after every look; returns how to be left alone again. */
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
