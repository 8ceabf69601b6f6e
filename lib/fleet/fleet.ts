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
import { FleetEngine } from "./fleet-engine.ts";
import { FleetTrainer, type SendingTrainer } from "./fleet-trainer.ts";
import { HostedVerifiers } from "./hosted-verifiers.ts";
import { type FleetSettings, REGISTERS, SETTINGS } from "./names.ts";
import { ProcessList } from "./process-list.ts";
import { type ReadyProcess, readyProcesses } from "./readiness.ts";
import { Roster } from "./roster.ts";
import type { ChosenTransport } from "./transports.ts";
import { Updates } from "./updates.ts";

export interface FleetOptions {
  readonly store: StreamStore;
  /** Native info of this process. */
  readonly info: () => NativeInfo;
  readonly openTrainer: (config: ModelConfigJson, options: TrainerOptions) => SendingTrainer;
  /** Hosts of verifiers that there are to be. Default 0: the coordinator's own pool judges. */
  readonly verifiers?: number;
  /**
   * Transport of weights where it can be used. Adapters and weights on a GPU always go through folders, which is also
   * the default.
   */
  readonly weights?: ChosenTransport;
  readonly settings?: Partial<FleetSettings>;
  /** Address of the store, for processes that watch the run. */
  readonly place?: NonNullable<CoreProcesses["store"]>;
}

/** A core whose engines are actors' in other processes, and verifiers too: what a run of several processes is given. */
export class Fleet implements Core, AsyncDisposable {
  readonly roster: Roster;
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
    this.roster = new Roster(options.store, settings);
    this.updates = new Updates(options.store, this.roster, settings);
    this.board = new ProcessList(this.roster, this.updates);
    const { store, verifiers: hosts = 0 } = options;
    if (hosts > 0) this.#judges = new HostedVerifiers({ store, roster: this.roster, settings, hosts });
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
    const { roster, updates } = this;
    const { store } = this.#options;
    const spec = { engine: `engine-${this.#opened++}`, config, options };
    const parts = { store, roster, updates, settings: this.#settings };
    const engine = new FleetEngine(spec, parts, handlers);
    this.#engines.add(engine);
    if (this.#failure !== undefined) setImmediate(() => engine.fail(this.#failure as Error));
    return engine;
  }

  trainer(config: ModelConfigJson, options: TrainerOptions): TrainerFace {
    const { weights, openTrainer } = this.#options;
    const way = options.device === "cuda" ? weights?.betweenGpus : weights?.way;
    return new FleetTrainer(openTrainer(config, options), this.updates, way ?? "folder");
  }

  verifierHosts(workers: number): JobPlace | undefined {
    return this.#judges?.place(workers);
  }

  /** Processes that are ready now. Rejects with the error that ended the fleet. */
  async readyProcesses(): Promise<ReadyProcess[]> {
    if (this.#failure !== undefined) throw this.#failure;
    return await readyProcesses(this.#options.store, this.roster);
  }

  async lookForMetrics(): Promise<void> {
    const found = await this.#options.store.kv.list(REGISTERS.allMetrics);
    const entries = [...found].map(
      ([key, address]) => [key.slice(REGISTERS.allMetrics.length), address] as const,
    );
    this.board.metrics = new Map(entries);
  }

  /** Ends all pending work with an error that neither the store nor a restart of actors can repair. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.updates.failure ??= error as Error;
    this.#judges?.fail(error as Error);
    for (const engine of this.#engines) engine.fail(error as Error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.roster.close();
    this.updates.close();
    await Promise.all([...[...this.#engines].map((engine) => engine.close()), this.#judges?.close()]);
  }
}

/** Writes what all parts of the fleet go by, and begins to look and listen for actors. */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const settings = { ...SETTINGS, ...options.settings };
  await options.store.kv.set(REGISTERS.settings, JSON.stringify(settings));
  const fleet = new Fleet(options, settings);
  const onFailure = (error: unknown) => fleet.fail(error);
  fleet.roster.onLook(() => void fleet.lookForMetrics().catch(() => {})); // what the store says is said to the roster too
  fleet.roster.watch(onFailure);
  fleet.updates.listen().catch(onFailure);
  return fleet;
}
