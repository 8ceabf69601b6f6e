import { openStore, type StreamStore } from "../streams/index.ts";
import { nextGeneration } from "./heartbeat.ts";
import { fleetSettings, type MemberStatus, Membership } from "./membership.ts";
import { type FleetSettings, REGISTERS } from "./names.ts";
import { type RoleFacts, RoleMetrics, type RoleMetricsOptions } from "./role-metrics.ts";
import { type Place, Supervisor, type SupervisorOptions } from "./supervisor.ts";
import { endSilent, RankWatch } from "./watchdog.ts";

export interface NodeRolesOptions extends Pick<SupervisorOptions, "logs" | "threads" | "environmentOf"> {
  /** Address of the store, and the id of the run in it. */
  readonly store: string;
  readonly run: string;
  readonly places: readonly Pick<Place, "role" | "rank" | "worldSize">[];
  /** Address at which this node's metrics are served, for Prometheus. */
  readonly metrics?: Pick<RoleMetricsOptions, "place" | "name" | "say">;
  readonly onFailure: (error: unknown) => void;
}

/**
 * The processes of one node in a run whose coordinator is elsewhere: starts them, and restarts them when they exit or
 * miss heartbeats. The trainer's ranks share one epoch over all nodes, kept in a register: a node that sees one of
 * its ranks exit increments it, and every node restarts its own ranks.
 */
export class NodeRoles implements AsyncDisposable {
  readonly #options: NodeRolesOptions;
  readonly #store: StreamStore;
  readonly #supervisor: Supervisor;
  readonly #closed = new AbortController();
  #membership: Membership | undefined;
  #watch: RankWatch | undefined;
  #metrics: RoleMetrics | undefined;
  #epoch = 0;

  private constructor(options: NodeRolesOptions, store: StreamStore) {
    const { onFailure, places: _, store: __, run: ___, metrics: ____, ...supervised } = options;
    this.#options = options;
    this.#store = store;
    this.#supervisor = new Supervisor({
      ...supervised,
      onVacant: (places, last) =>
        places[0]!.role === "trainer"
          ? this.#nextEpoch(places)
          : nextGeneration(store, `${places[0]!.role}.${places[0]!.rank}`, last),
      onFailure,
    });
  }

  /** Throws HONE_ERR_STREAM for a run that the store does not know. */
  static async open(options: NodeRolesOptions): Promise<NodeRoles> {
    const roles = new NodeRoles(
      options,
      await openStore(options.store, { run: options.run, mustExist: true }),
    );
    try {
      await roles.#begin();
      return roles;
    } catch (error) {
      await roles[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    this.#watch?.[Symbol.dispose]();
    this.#metrics?.[Symbol.dispose]();
    this.#membership?.close();
    await this.#supervisor[Symbol.asyncDispose]();
    await this.#store.close();
  }

  async #begin(): Promise<void> {
    const { places, store, run: runId, metrics } = this.#options;
    const settings = await fleetSettings(this.#store);
    const { beatMs } = settings;
    const facts = () => this.#facts();
    if (metrics) this.#metrics = new RoleMetrics({ ...metrics, store: this.#store, runId, beatMs, facts });
    const whole = places.map((place) => ({ ...place, store, runId }));
    const trainers = whole.filter(({ role }) => role === "trainer");
    this.#watch = new RankWatch(settings, (rank) => this.#supervisor.kill("trainer", rank));
    this.#membership = new Membership(this.#store, settings);
    this.#membership.onLook(() => this.#look(settings));
    this.#membership.watch(this.#options.onFailure);
    const others = whole.filter(({ role }) => role !== "trainer");
    const each = others.map((place) => this.#supervisor.start(place));
    await Promise.all([...each, ...(trainers.length > 0 ? [this.#supervisor.start(...trainers)] : [])]);
    if (trainers.length > 0) this.#follow(trainers).catch(this.#options.onFailure);
  }

  /** Metrics of this node: its oldest weights, and the sum of what its actors sample. */
  #facts(): RoleFacts {
    const { statuses } = this.#supervisor;
    const here = new Set(statuses.map(({ role, rank }) => `${role}.${rank}`));
    const alive = this.#membership?.alive ?? [];
    const own = alive.filter(({ index }) => here.has(`actor.${index}`)).map(workOf);
    const newest = Math.max(0, ...alive.map((actor) => workOf(actor).version));
    const version = own.length === 0 ? 0 : Math.min(...own.map((work) => work.version));
    return {
      version,
      lag: own.length === 0 ? 0 : newest - version,
      tokens: own.reduce((sum, { tokens }) => sum + tokens, 0),
      restarts: Object.fromEntries(statuses.map(({ role, rank, restarts }) => [`${role}.${rank}`, restarts])),
    };
  }

  /** Returns an epoch that this node's ranks have not been in yet: another node's, or the next. */
  async #nextEpoch(places: readonly Place[]): Promise<number> {
    const { kv } = this.#store;
    for (;;) {
      const before = await kv.get(REGISTERS.epoch);
      const next = Number(before ?? 0) + 1;
      if (Number(before ?? 0) > this.#epoch) this.#epoch = next - 1;
      else if (await kv.cas(REGISTERS.epoch, before ?? null, String(next))) this.#epoch = next;
      else continue;
      this.#watch!.form(this.#epoch, places[0]!.worldSize);
      return this.#epoch;
    }
  }

  /** Ends this node's ranks when another node has begun a new epoch. */
  async #follow(trainers: readonly Place[]): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      const not = String(this.#epoch);
      const found = await this.#store.kv
        .waitFor(REGISTERS.epoch, { waitMs: 1_000, not, signal })
        .catch((error: unknown) => {
          if (signal.aborted) return undefined;
          throw error;
        });
      if (found === undefined || Number(found) <= this.#epoch) continue;
      for (const { rank } of trainers) this.#supervisor.kill("trainer", rank);
      await new Promise((resolve) => setTimeout(resolve, 200)); // time for the ranks to be started again
    }
  }

  #look(settings: FleetSettings): void {
    const membership = this.#membership!;
    this.#watch?.look(membership.ranks);
    endSilent(this.#supervisor, membership, settings);
  }
}

function workOf({ engines }: MemberStatus): { readonly version: number; readonly tokens: number } {
  const all = Object.values(engines);
  return {
    version: Math.max(0, ...all.map(({ version }) => version)),
    tokens: all.reduce((sum, { decodeTokens }) => sum + decodeTokens, 0),
  };
}
