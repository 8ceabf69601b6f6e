import { HoneError } from "../../lib/errors.ts";
import { runActor } from "../../lib/fleet/actor.ts";
import { type Fleet, type FleetSettings, openFleet } from "../../lib/fleet/index.ts";
import type { TransferPlan } from "../../lib/fleet/messages.ts";
import { REGISTERS } from "../../lib/fleet/names.ts";
import type { RoleFacts } from "../../lib/fleet/role-metrics.ts";
import type { StagedWeights, WeightTransport } from "../../lib/fleet/transport.ts";
import type { EngineFace, TrainerFace } from "../../lib/native/face.ts";
import type { Core } from "../../lib/orchestration/index.ts";
import { deferred } from "../../lib/shared/async/deferred.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";
import { type StandInEngine, StandInTrainer } from "../orchestration/stand-in-core.ts";

/** Weights from hand to hand in one process: of a stand-in what it is now, of the core what `publish` gives an engine. */
export class HandOver {
  readonly #offers = new Map<number, ReturnType<typeof deferred<TrainerFace | Given>>>();
  /** Called before an actor has the weights; may throw, or wait. */
  onReceive: (plan: TransferPlan, me: string) => void | Promise<void> = () => {};
  /** Called before an actor gives on what it has; may throw, or wait. */
  onSend: (plan: TransferPlan, me: string) => void | Promise<void> = () => {};
  /** What stand-ins' engines were given, by actor. */
  readonly words = new Map<string, number>();
  /** Called before the trainer gives them. */
  onTrainerSends: (plan: TransferPlan) => void = () => {};

  async send(plan: TransferPlan, trainer: TrainerFace): Promise<void> {
    this.onTrainerSends(plan);
    this.#offer(plan).resolve(trainer);
  }

  /** Whoever waits for it loses the way. */
  lose(plan: TransferPlan): void {
    this.#offer(plan).reject(lost());
  }

  transport(engineOf: () => EngineFace | undefined): Omit<WeightTransport, "send"> {
    const committed = new Map<string, Given>();
    return {
      receive: async (plan, { engine }, me) => {
        const given = await this.#offer(plan).promise;
        await this.onReceive(plan, me);
        return given instanceof StandInTrainer || !isTrainer(given)
          ? copied(given, (weights) => {
              committed.set(engine, weights);
              this.words.set(me, weights.word);
            })
          : published(given, engineOf);
      },
      // what the core gave an engine cannot be had back: the trainer is asked
      relay: async (plan, { engine }, me) => {
        await this.onSend(plan, me);
        const given = committed.get(engine);
        if (given?.version !== plan.version)
          throw new HoneError("HONE_ERR_STATE", `${me} has nothing to give`);
        this.#offer(plan).resolve(given);
      },
      forget: async () => {},
      close: async () => {},
    };
  }

  #offer({ update }: TransferPlan) {
    const offer = this.#offers.get(update) ?? deferred<TrainerFace | Given>();
    offer.promise.catch(() => {}); // whoever waits gets it
    this.#offers.set(update, offer);
    return offer;
  }
}

/** Weights of a stand-in as they were when they were given. */
type Given = Pick<StandInTrainer, "version" | "word">;

const isTrainer = (given: TrainerFace | Given): given is TrainerFace => "publish" in given;

function copied({ version, word }: Given, keep: (given: Given) => void): StagedWeights {
  return {
    commit: async (engine) => {
      (engine as StandInEngine).take(version, word);
      keep({ version, word });
    },
  };
}

/** A trainer that goes on has other weights when they are committed. */
async function published(
  trainer: TrainerFace,
  engineOf: () => EngineFace | undefined,
): Promise<StagedWeights> {
  await trainer.publish(engineOf()!);
  return { commit: async () => {} };
}

export interface LocalActor {
  readonly stop: AbortController;
  /** Its engines, in the order they were opened. */
  readonly engines: EngineFace[];
  readonly ended: Promise<void>;
  /** What it says of itself; undefined before it works. */
  readonly facts: () => RoleFacts | undefined;
}

export interface LocalFleet {
  readonly fleet: Fleet;
  readonly store: StreamStore;
  readonly weights: HandOver;
  readonly actors: LocalActor[];
  start(index: number): LocalActor;
  close(): Promise<void>;
}

/** A fleet in this process, over a store in memory. Actor i is `actors[i]` until a later one takes its place. */
export async function localFleet(
  core: Core,
  actors: number,
  settings: Partial<FleetSettings> = {},
): Promise<LocalFleet> {
  const store = await openStore("memory:", { run: "test" });
  const weights = new HandOver();
  const openTrainer: Parameters<typeof openFleet>[0]["openTrainer"] = (config, options) => {
    const trainer = core.trainer(config, options);
    const senders = async () => [{ name: "trainer.0#0", host: "" }];
    return { trainer, send: (plan) => weights.send(plan, trainer), senders };
  };
  const fast = { leaseMs: 300, beatMs: 20, aliveMs: 10_000, updateMs: 400, gatherMs: 3000, ...settings };
  const fleet = await openFleet({ store, info: core.info, openTrainer, settings: fast });
  const all: LocalActor[] = [];
  const born: Record<number, number> = {};
  const start = (index: number): LocalActor => {
    const generation = (born[index] ?? 0) + 1;
    born[index] = generation;
    const actor = startActor(core, { store, weights, index, generation });
    all[index] = actor;
    return actor;
  };
  for (let i = 0; i < actors; i++) start(i);
  const close = async () => {
    await fleet[Symbol.asyncDispose]();
    for (const actor of all) actor.stop.abort();
    await Promise.allSettled(all.map(({ ended }) => ended));
    await store.close();
  };
  return { fleet, store, weights, actors: all, start, close };
}

interface Place {
  readonly store: StreamStore;
  readonly weights: HandOver;
  readonly index: number;
  readonly generation: number;
}

function startActor(core: Core, { store, weights, index, generation }: Place): LocalActor {
  const stop = new AbortController();
  const engines: EngineFace[] = [];
  const engine: Core["engine"] = (...args) => {
    const made = core.engine(...args);
    engines.push(made);
    return made;
  };
  const transport = weights.transport(() => engines.at(-1));
  let facts: (() => RoleFacts) | undefined;
  const onFacts = (ask: () => RoleFacts) => {
    facts = ask;
  };
  const parts = { store, core: { engine }, transport, index, generation, onFacts };
  const ended = runActor({ ...parts, signal: stop.signal });
  ended.catch(() => {}); // tests that care look
  return { stop, engines, ended, facts: () => facts?.() };
}

/** As a process that is killed: nothing of it is said or done any more, and nobody knows. */
export async function killActor({ store }: LocalFleet, index: number, actor: LocalActor): Promise<void> {
  actor.stop.abort();
  await actor.ended.catch(() => {});
  await store.kv.delete(REGISTERS.beat(`actor.${index}`));
}

export const lost = () => new HoneError("HONE_ERR_COLLECTIVE", "a member is gone");
