import type { ProcessStatus } from "../metrics/index.ts";
import type {
  EngineFace,
  EngineHandlers,
  EngineOptions,
  ModelConfigJson,
  NativeInfo,
  TrainerFace,
  TrainerOptions,
} from "../native/face.ts";
import type { Core, CoreProcesses } from "../orchestration/index.ts";
import type { JobPlace } from "../rewards/index.ts";
import type { StreamStore } from "../streams/index.ts";
import { CatchUp } from "./catch-up.ts";
import type { ChosenTransport } from "./communicator-transport.ts";
import { FleetEngine } from "./fleet-engine.ts";
import { fleetTrainer, type SendingTrainer } from "./fleet-trainer.ts";
import { HostedVerifiers } from "./hosted-verifiers.ts";
import { type MemberStatus, Membership, type ReadyProcess } from "./membership.ts";
import { type FleetSettings, memberName, predecessors, REGISTERS, SETTINGS } from "./names.ts";
import type { PublishedVersions } from "./published.ts";
import { TokenRate } from "./role-metrics.ts";
import type { PlaceStatus } from "./supervisor.ts";
import { Updates } from "./updates.ts";

export interface FleetOptions {
  readonly store: StreamStore;
  /** Native info of this process. */
  readonly info: () => NativeInfo;
  readonly openTrainer: (config: ModelConfigJson, options: TrainerOptions) => SendingTrainer;
  /** Number of verifier hosts that the run is to have. Default 0: the coordinator's own pool judges. */
  readonly verifiers?: number;
  /** Transport of weights. Default: folders. */
  readonly weights?: ChosenTransport;
  /** Bytes of the weights that an engine reads: its updates get time for them. Default: 0. */
  readonly weightBytes?: (config: ModelConfigJson, options: EngineOptions) => number;
  readonly settings?: Partial<FleetSettings>;
  /** Address of the store, for processes that watch the run. */
  readonly place?: NonNullable<CoreProcesses["store"]>;
}

/** The core of a run over several processes: its engines, and optionally its verifiers, are in other processes. */
export class Fleet implements Core, AsyncDisposable {
  readonly membership: Membership;
  readonly updates: Updates;
  readonly board: ProcessList;
  readonly #options: FleetOptions;
  readonly #settings: FleetSettings;
  readonly #engines = new Set<FleetEngine>();
  readonly #judges: HostedVerifiers | undefined;
  #opened = 0;
  #failure: unknown;

  constructor(options: FleetOptions, settings: FleetSettings) {
    this.#options = options;
    this.#settings = settings;
    this.membership = new Membership(options.store, settings);
    this.updates = new Updates({ store: options.store, membership: this.membership, settings });
    new CatchUp(this.updates, this.membership);
    this.board = new ProcessList(this.membership, this.updates.published);
    const { store, verifiers: hosts = 0 } = options;
    if (hosts > 0)
      this.#judges = new HostedVerifiers({ store, membership: this.membership, settings, hosts });
  }

  info(): NativeInfo {
    return this.#options.info();
  }

  processes(): CoreProcesses {
    const { place, weights } = this.#options;
    const words = weights && { weights: weights.words };
    return { list: this.board.look(), ...(place && { store: place }), ...words };
  }

  engine(config: ModelConfigJson, options: EngineOptions, handlers: EngineHandlers): EngineFace {
    const { membership, updates } = this;
    const { store, weightBytes } = this.#options;
    const spec = { engine: `engine-${this.#opened++}`, config, options };
    updates.bytes.set(spec.engine, weightBytes?.(config, options) ?? 0);
    const parts = { store, membership, updates, settings: this.#settings };
    const engine = new FleetEngine(spec, parts, handlers);
    this.#engines.add(engine);
    if (this.#failure !== undefined) setImmediate(() => engine.fail(this.#failure as Error));
    return engine;
  }

  trainer(config: ModelConfigJson, options: TrainerOptions): TrainerFace {
    const { weights, openTrainer } = this.#options;
    const way = options.device === "cuda" ? weights?.betweenGpus : weights?.way;
    return fleetTrainer(openTrainer(config, options), this.updates, way ?? "folder");
  }

  verifierHosts(workers: number): JobPlace | undefined {
    return this.#judges?.place(workers);
  }

  /** Processes that are ready now. Rejects with the error that ended the fleet. */
  async readyProcesses(): Promise<ReadyProcess[]> {
    if (this.#failure !== undefined) throw this.#failure;
    return await this.membership.ready();
  }

  async lookForMetrics(): Promise<void> {
    const found = await this.#options.store.kv.list(REGISTERS.allMetrics);
    const entries = [...found].map(
      ([key, address]) => [key.slice(REGISTERS.allMetrics.length), address] as const,
    );
    this.board.metrics = new Map(entries);
  }

  /** Ends all pending work with an error that a store or restarted actors cannot repair. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.updates.failure ??= error as Error;
    this.#judges?.fail(error as Error);
    for (const engine of this.#engines) engine.fail(error as Error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.membership.close();
    this.updates.close();
    await Promise.all([...[...this.#engines].map((engine) => engine.close()), this.#judges?.close()]);
  }
}

/** Writes the shared settings to the store and begins to watch the actors. */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const settings = { ...SETTINGS, ...options.settings };
  await options.store.kv.set(REGISTERS.settings, JSON.stringify(settings));
  const fleet = new Fleet(options, settings);
  const onFailure = (error: unknown) => fleet.fail(error);
  fleet.membership.onLook(() => void fleet.lookForMetrics().catch(() => {})); // the membership reports errors of the store
  fleet.membership.watch(onFailure);
  fleet.updates.listen().catch(onFailure);
  return fleet;
}

/** Lists the fleet's processes: those that this process supervises, and those that joined from other machines. */
export class ProcessList {
  /** Places of the processes that this machine's supervisor restarts. */
  places: () => readonly PlaceStatus[] = () => [];
  readonly #membership: Membership;
  readonly #published: PublishedVersions;
  readonly #rates = new Map<string, TokenRate>();
  /** Addresses of processes' metrics, for Prometheus, by process name. */
  metrics: ReadonlyMap<string, string> = new Map();

  constructor(membership: Membership, published: PublishedVersions) {
    this.#membership = membership;
    this.#published = published;
  }

  /** Call this about once a second. Lists actors first, and each role in rank order. */
  look(): ProcessStatus[] {
    const places = this.places();
    const own = places.map((place) => this.#inPlace(place));
    const known = new Set(own.map(({ name }) => name));
    const others = [...this.#membership.alive, ...this.#membership.hosts].map((member) => ({
      name: member.place,
      pid: member.pid,
      state: "alive" as const,
      restarts: predecessors(member.member),
      ...this.#work(member),
    }));
    const ranks = this.#membership.ranks.map(({ place, pid, generation }) => {
      return { name: place, pid, state: "alive" as const, restarts: generation - 1, doing: "" };
    });
    const rows: ProcessStatus[] = [...own, ...[...others, ...ranks].filter(({ name }) => !known.has(name))];
    const named = new Set(rows.map(({ name }) => name));
    const heardOf = [...this.metrics.keys()].filter((name) => !named.has(name));
    const all = [
      ...rows,
      ...heardOf.map((name) => ({ name, state: "alive" as const, restarts: 0, doing: "" })),
    ];
    return all.map((row) => ({ ...row, ...this.#address(row.name) }));
  }

  #address(name: string): Pick<ProcessStatus, "metrics"> {
    const metrics = this.metrics.get(name);
    return metrics === undefined ? {} : { metrics };
  }

  #inPlace({ role, rank, epoch, pid, restarts, ended }: PlaceStatus): ProcessStatus {
    const base = { name: `${role}.${rank}`, pid, restarts, ...(ended && { ended }) };
    if (pid === undefined) return { ...base, state: "gone", doing: "is started again" };
    if (role === "trainer") return { ...base, state: "alive", doing: "" };
    const member = memberName(`${role}.${rank}`, epoch);
    const alive = role === "actor" ? this.#membership.alive : this.#membership.hosts;
    const found = alive.find((each) => each.member === member);
    if (found !== undefined) return { ...base, state: "alive", ...this.#work(found) };
    if (this.#membership.wasLost(member)) return { ...base, state: "silent", doing: "sends no heartbeat" };
    return { ...base, state: "starting", doing: "begins" };
  }

  #work({
    member,
    engines,
    judging,
  }: MemberStatus): Pick<ProcessStatus, "version" | "lag" | "tokensPerSecond" | "doing"> {
    if (judging !== undefined) return { doing: judgingWords(judging) };
    const all = Object.entries(engines);
    const sum = (of: "running" | "decodeTokens") => all.reduce((n, [, stats]) => n + stats[of], 0);
    const versions = all.map(([name, { version }]) => {
      const current = this.#published.version(name) ?? version;
      // a member that has received the weights may sample with them; its next heartbeat reports the version
      return { current, own: this.#published.lagging(name).includes(member) ? version : current };
    });
    const lag = Math.max(0, ...versions.map(({ current, own }) => current - own));
    const running = sum("running");
    const doing = running > 0 ? `samples ${running}` : lag > 0 ? "waits for weights" : "waits for requests";
    const tokensPerSecond = this.#rate(member, sum("decodeTokens"));
    return { version: versions[0]?.own ?? 0, lag, tokensPerSecond, doing };
  }

  #rate(member: string, tokens: number): number {
    const rate = this.#rates.get(member) ?? new TokenRate();
    this.#rates.set(member, rate);
    return rate.at(tokens);
  }
}

function judgingWords({ jobs, judged }: NonNullable<MemberStatus["judging"]>): string {
  const now = jobs > 0 ? `judges in ${jobs} ${jobs === 1 ? "worker" : "workers"}` : "waits for completions";
  return `${now}, ${judged} judged`;
}
