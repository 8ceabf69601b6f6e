import { rmSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import type { Core } from "../orchestration/index.ts";
import { openStore, type StreamStore, withoutPassword } from "../streams/index.ts";
import { chooseTransport, openTransport, weightBytes } from "./communicator-transport.ts";
import { type Fleet, type FleetOptions, openFleet } from "./fleet.ts";
import { localTrainers } from "./fleet-trainer.ts";
import type { TransportKind } from "./messages.ts";
import { type FleetSettings, REGISTERS, SETTINGS } from "./names.ts";
import { TrainerRanks } from "./remote-trainer.ts";
import { Rendezvous, sessionRun } from "./rendezvous.ts";
import type { WeightTransport } from "./transport.ts";

export interface AgentsOptions {
  readonly actors: number;
  /** Number of trainer processes; 0: this process trains. */
  readonly trainers: number;
  /** Number of verifier hosts. Default 0: this process has a pool. */
  readonly verifiers?: number | undefined;
  /** Core of this process. */
  readonly core: Core;
  /** Redis server that every node reaches. */
  readonly store: string;
  /** Id of the run, equal for all its agents. */
  readonly runId: string;
  /** A shared folder at the same path on every node, for weights transferred through files. */
  readonly folder: string;
  readonly settings?: Partial<FleetSettings>;
  /** Transport of weights. Default: a communicator if Gloo is available, and NCCL for weights on GPUs. */
  readonly weights?: TransportKind;
  /** Address of this machine for actors elsewhere, where this process trains. */
  readonly host?: string;
}

/** A fleet whose processes are started and supervised by agents. */
export interface Agents extends AsyncDisposable {
  readonly core: Fleet;
}

/**
 * Opens the core of a run whose processes are started by agents, one per node, here and elsewhere (`runAgent`).
 * Throws the errors of Rendezvous.
 */
export async function openAgents(options: AgentsOptions): Promise<Agents> {
  const open: (() => unknown)[] = [];
  const close = async () => {
    const ends: Promise<unknown>[] = [];
    for (const each of open.reverse()) {
      ends.push(Promise.resolve().then(each));
      await Promise.allSettled(ends); // closes every part, even if closing another one failed
    }
    await Promise.all(ends);
  };
  try {
    const core = await opened(options, (end) => open.push(end));
    return { core, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param later registers cleanups, which run in reverse order */
async function opened(options: AgentsOptions, later: (end: () => unknown) => void): Promise<Fleet> {
  const rendezvous = await Rendezvous.open(options.store, options.runId);
  later(() => rendezvous[Symbol.asyncDispose]());
  const session = await rendezvous.sit();
  const place = { address: withoutPassword(options.store), run: sessionRun(options.runId, session) };
  const store = await openStore(options.store, place);
  later(() => store.close());
  const fleet = new AgentsFleet({ ...options, place }, store);
  later(() => fleet[Symbol.asyncDispose]());
  await fleet.open();
  await rendezvous.acquireLeadership(session);
  const kept = rendezvous.keep(session, (error) => fleet.fail(error));
  later(() => kept.close());
  void rendezvous.failure(session, fleet.closed).then((why) => {
    if (why !== undefined) fleet.fail(new HoneError("HONE_ERR_STATE", why));
  });
  return fleet.core;
}

/** Adds the address at which other processes find the store. */
type PlacedOptions = AgentsOptions & Required<Pick<FleetOptions, "place">>;

class AgentsFleet implements AsyncDisposable {
  core!: Fleet;
  readonly #options: PlacedOptions;
  readonly #store: StreamStore;
  readonly #transport: WeightTransport;
  readonly #settings: FleetSettings;
  readonly #ranks: TrainerRanks | undefined;
  readonly #closed = new AbortController();

  constructor(options: PlacedOptions, store: StreamStore) {
    this.#options = options;
    this.#store = store;
    this.#settings = { ...SETTINGS, ...options.settings };
    const { core, folder, host } = options;
    const { signal } = this.#closed;
    this.#transport = openTransport({ store, core, folder, host, signal });
    this.#ranks =
      options.trainers > 0 ? new TrainerRanks(store, join(options.folder, "trainers")) : undefined;
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  async open(): Promise<void> {
    const { core, folder, host, verifiers = 0, weights: asked, place } = this.#options;
    const store = this.#store;
    const settings = this.#settings;
    const weights = chooseTransport(asked, core.info());
    await store.kv.set(REGISTERS.folder, folder);
    const openTrainer = this.#ranks?.open.bind(this.#ranks) ?? localTrainers(core, this.#transport, host);
    const about = { settings, weights, weightBytes, place };
    this.core = await openFleet({ store, info: core.info, openTrainer, verifiers, ...about });
    if (this.#ranks === undefined) return;
    this.#follow(this.#ranks).catch((error) => this.fail(error as Error));
  }

  fail(error: Error): void {
    this.#ranks?.fail(error);
    this.core.fail(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.core?.[Symbol.asyncDispose]();
    this.#ranks?.close();
    await this.#transport.close();
    rmSync(this.#options.folder, { recursive: true, force: true });
  }

  /** Follows the epochs of the trainer's ranks, which the agents count; each epoch has a log of its own. */
  async #follow(ranks: TrainerRanks): Promise<void> {
    const { kv } = this.#store;
    const { signal } = this.#closed;
    for (let epoch = 0; !signal.aborted; ) {
      const waiting = { waitMs: 60_000, signal, ...(epoch > 0 && { not: String(epoch) }) };
      const found = await kv.waitFor(REGISTERS.epoch, waiting).catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
      if (found === undefined) continue;
      for (const key of (await kv.list(REGISTERS.links(epoch))).keys()) await kv.delete(key);
      epoch = Number(found);
      ranks.form(epoch);
    }
  }
}
