import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import type { Core } from "../orchestration/index.ts";
import {
  openStore,
  type StreamStore,
  serveStore,
  unixPath,
  unixUrl,
  withoutPassword,
} from "../streams/index.ts";
import {
  type ChosenTransport,
  chooseTransport,
  openTransport,
  weightBytes,
} from "./communicator-transport.ts";
import { gpuVariables } from "./environment.ts";
import { type Fleet, openFleet } from "./fleet.ts";
import { localTrainers } from "./fleet-trainer.ts";
import { type LastEnd, nextGeneration } from "./heartbeat.ts";
import { OWN_REDIS, OWN_SERVER, OWN_SOCKET, type OwnFolder, OwnRedis, openOwnFolder } from "./local-store.ts";
import type { TransportKind } from "./messages.ts";
import { type FleetSettings, REGISTERS, SETTINGS } from "./names.ts";
import { TrainerRanks } from "./remote-trainer.ts";
import { type Place, Supervisor } from "./supervisor.ts";
import type { WeightTransport } from "./transport.ts";
import { endSilent, RankWatch } from "./watchdog.ts";

export interface ProcessesOptions {
  readonly actors: number;
  /** Number of trainer processes; 0: this process trains. */
  readonly trainers: number;
  /** Number of verifier hosts, each with the workers of a machine. Default 0: this process has a pool. */
  readonly verifiers?: number | undefined;
  /**
   * Gives each training or sampling process its own GPU. The trainers (this process, if there is no other) get the
   * first ones. Default: false.
   */
  readonly gpus?: boolean;
  /** Core of this process. */
  readonly core: Core;
  /**
   * Address of the store (docs/explanation/streams.md); all processes must reach it. "unix:<path>": this
   * process serves it there. "redis-server": a Redis server is started for this run alone. Default: this
   * process serves it at a private socket.
   */
  readonly store?: string;
  readonly settings?: Partial<FleetSettings>;
  /** Transport of weights. Default: a communicator if Gloo is available, and NCCL for weights on GPUs. */
  readonly weights?: TransportKind;
  /** Receives a line for each restart of the run's own Redis server, and at the end for files that could not be removed. */
  readonly say?: (line: string) => void;
}

/** A fleet whose processes this one has started; disposing it ends them. */
export interface Processes extends AsyncDisposable {
  readonly core: Fleet;
}

/**
 * Starts actors, trainers and verifier hosts on this machine and returns the run's core, which uses them. Throws
 * HONE_ERR_UNSUPPORTED for more than one trainer without Gloo, and the store's errors.
 */
export async function openProcesses(options: ProcessesOptions): Promise<Processes> {
  expectGloo(options);
  expectShared(options.store);
  const weights = chooseTransport(options.weights, options.core.info());
  const settings = { ...SETTINGS, ...options.settings };
  const own = await openOwnFolder();
  const processes = new OwnProcesses({ ...options, settings, weights }, await openPlace(options, own));
  try {
    await processes.open();
    return processes;
  } catch (error) {
    await processes[Symbol.asyncDispose]();
    throw error;
  }
}

async function openPlace({ store: address }: ProcessesOptions, own: OwnFolder): Promise<Whereabouts> {
  const runId = `run-${randomUUID()}`;
  let redis: OwnRedis | undefined;
  try {
    redis = address === OWN_REDIS ? await OwnRedis.start(join(own.path, OWN_SERVER)) : undefined;
    const socket = address === undefined ? join(own.path, OWN_SOCKET) : unixPath(address);
    if (socket === undefined) {
      const url = redis?.url ?? address!;
      return { own, runId, url, redis, store: await openStore(url, { run: runId }) };
    }
    const url = unixUrl(socket); // absolute, because readers may have another working directory
    return { own, runId, url, redis, store: await serveStore(url, { run: runId }) };
  } catch (error) {
    await redis?.[Symbol.asyncDispose]();
    own.close(false);
    throw error;
  }
}

function expectShared(address: string | undefined): void {
  if (address !== "memory:") return;
  throw new HoneError(
    "HONE_ERR_USAGE",
    "the store `memory:` works within one process only, but this run has several",
    {
      hint: `Omit --store and HONE_STORE: this process then serves a store to the others. Or give unix:<path>, redis://host:port, or ${OWN_REDIS} for a server of the run's own.`,
    },
  );
}

function expectGloo({ actors, trainers, core }: ProcessesOptions): void {
  const { version, reason } = core.info().gloo;
  if (trainers < 2 || version !== null) return;
  throw new HoneError(
    "HONE_ERR_UNSUPPORTED",
    `hardware.processes asks for ${trainers} trainers, which communicate over Gloo, which is not available: ${reason}`,
    {
      hint: `Use one trainer, hardware.processes: { actors: ${actors + trainers - 1}, trainers: 1 }, or a core with Gloo.`,
    },
  );
}

interface Whereabouts {
  /** A private folder of this fleet. */
  readonly own: OwnFolder;
  readonly runId: string;
  /** Address of the store. */
  readonly url: string;
  readonly store: StreamStore;
  /** The fleet's own Redis server, if it started one. */
  readonly redis: OwnRedis | undefined;
}

/** Deletes the run's data from a store that outlives this fleet. */
async function forget({ store, url, runId }: Whereabouts, say: (line: string) => void): Promise<void> {
  await store.forget().catch(({ message }: Error) => {
    say(`the entries of run ${runId} in the store ${withoutPassword(url)} could not be deleted: ${message}`);
  });
}

interface OwnOptions extends Omit<ProcessesOptions, "weights"> {
  readonly settings: FleetSettings;
  readonly weights: ChosenTransport;
}

class OwnProcesses implements Processes {
  core!: Fleet;
  readonly #options: OwnOptions;
  readonly #at: Whereabouts;
  readonly #supervisor: Supervisor;
  readonly #transport: WeightTransport;
  readonly #closed = new AbortController();
  readonly #ranks: TrainerRanks | undefined;
  #watch: RankWatch | undefined;
  #failure: HoneError | undefined;

  constructor(options: OwnOptions, at: Whereabouts) {
    const { actors, trainers, gpus } = options;
    this.#options = options;
    this.#at = at;
    const { store } = at;
    const { signal } = this.#closed;
    const folder = join(at.own.path, "weights");
    this.#transport = openTransport({ store, core: options.core, folder, host: undefined, signal });
    this.#ranks = trainers > 0 ? new TrainerRanks(at.store, join(at.own.path, "trainers")) : undefined;
    this.#supervisor = new Supervisor({
      logs: at.own.path,
      threads: Math.max(1, Math.floor(availableParallelism() / (actors + trainers))),
      ...(gpus && {
        environmentOf: ({ role, rank }) =>
          gpuVariables(role, role === "actor" ? Math.max(1, trainers) + rank : rank),
      }),
      onVacant: (places, last) => this.#begin(places, last),
      onFailure: (error) => this.#fail(error),
    });
  }

  async open(): Promise<void> {
    const { store, own, runId, url } = this.#at;
    const { actors, trainers, verifiers = 0, core, settings, weights } = this.#options;
    await store.kv.set(REGISTERS.folder, join(own.path, "weights"));
    const openTrainer = this.#ranks?.open.bind(this.#ranks) ?? localTrainers(core, this.#transport);
    const place = { address: withoutPassword(url), run: runId };
    const { say = () => {} } = this.#options;
    this.#at.redis?.watch({ say, onFailure: (error) => this.#lose(error) });
    this.core = await openFleet({
      store,
      info: core.info,
      openTrainer,
      verifiers,
      place,
      settings,
      weights,
      weightBytes,
    });
    this.core.board.places = () => this.#supervisor.statuses;
    this.core.membership.onLook(() => endSilent(this.#supervisor, this.core.membership, settings));
    if (trainers > 0) this.#watchRanks();
    const places = (role: Place["role"], worldSize: number) =>
      Array.from({ length: worldSize }, (_, rank) => ({ role, rank, worldSize, runId, store: url }));
    const alone = [...places("actor", actors), ...places("verifier", verifiers)];
    const each = alone.map((place) => this.#supervisor.start(place));
    const together = trainers > 0 ? [this.#supervisor.start(...places("trainer", trainers))] : [];
    await Promise.all([...each, ...together]);
  }

  /** Ends a rank that is suspended or hangs, and with it all other ranks. */
  #watchRanks(): void {
    const { membership } = this.core;
    const watch = new RankWatch(this.#options.settings, (rank) => this.#supervisor.kill("trainer", rank));
    this.#watch = watch;
    membership.onLook(() => watch.look(membership.ranks));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    this.#watch?.[Symbol.dispose]();
    await this.core?.[Symbol.asyncDispose]();
    this.#ranks?.close();
    await this.#supervisor[Symbol.asyncDispose]();
    await this.#transport.close();
    const { say = () => {} } = this.#options;
    if (this.#at.redis === undefined) await forget(this.#at, say);
    await this.#at.store.close();
    await this.#at.redis?.[Symbol.asyncDispose]();
    this.#at.own.close(this.#failure !== undefined);
  }

  /** The store is lost: fails everything that waits for it. */
  #lose(error: HoneError): void {
    this.#fail(error);
    this.#at.store.abandon(error);
  }

  /** Begins the next epoch of slots and fences the processes of earlier ones. */
  async #begin(places: readonly Place[], last?: LastEnd): Promise<number> {
    const { role, rank } = places[0]!;
    const { store } = this.#at;
    if (role !== "trainer") return nextGeneration(store, `${role}.${rank}`, last);
    const { kv } = store;
    const before = await kv.get(REGISTERS.epoch);
    const epoch = Number(before ?? 0) + 1;
    if (!(await kv.cas(REGISTERS.epoch, before ?? null, String(epoch))))
      throw new HoneError(
        "HONE_ERR_STATE",
        `another process has already started epoch ${epoch} of the trainer's ranks`,
      );
    await this.#form(epoch, places);
    return epoch;
  }

  async #form(epoch: number, places: readonly Place[]): Promise<void> {
    const { kv } = this.#at.store;
    for (const key of (await kv.list(REGISTERS.links(epoch - 1))).keys()) await kv.delete(key);
    this.#watch!.form(epoch, places.length);
    this.#ranks!.form(epoch);
  }

  #fail(error: HoneError): void {
    this.#failure ??= error;
    this.#ranks?.fail(error);
    this.core.fail(error);
  }
}
