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

/**
 * Passes weights on within one process: a stand-in's present weights, or with the core what `publish` gives an
 * engine.
 */
export class HandOver {
  readonly #offers = new Map<number, ReturnType<typeof deferred<TrainerFace | Given>>>();
  /** Called before an actor receives the weights; may throw, or wait. */
  onReceive: (plan: TransferPlan, me: string) => void | Promise<void> = () => {};
  /** Called before an actor passes its weights on; may throw, or wait. */
  onSend: (plan: TransferPlan, me: string) => void | Promise<void> = () => {};
  /** The weights that stand-ins' engines received, by actor. */
  readonly words = new Map<string, number>();
  /** Called before the trainer passes its weights on. */
  onTrainerSends: (plan: TransferPlan) => void = () => {};

  async send(plan: TransferPlan, trainer: TrainerFace): Promise<void> {
    this.onTrainerSends(plan);
    this.#offer(plan).resolve(trainer);
  }

  /** Rejects for everything that waits for the update, as a lost connection does. */
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
      // the weights in a core's engine cannot be read back, so they come from the trainer
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
    offer.promise.catch(() => {}); // the receiver that waits for the offer gets the error
    this.#offers.set(update, offer);
    return offer;
  }
}

/** A copy of a stand-in's weights at the time of sending. */
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

/** Publishes at once, because a trainer that goes on training has other weights at the commit. */
async function published(
  trainer: TrainerFace,
  engineOf: () => EngineFace | undefined,
): Promise<StagedWeights> {
  await trainer.publish(engineOf()!);
  return { commit: async () => {} };
}

export interface LocalActor {
  readonly stop: AbortController;
  /** The actor's engines, in the order in which they were opened. */
  readonly engines: EngineFace[];
  readonly ended: Promise<void>;
  /** The facts that the role gives about itself; undefined before it works. */
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

/** A fleet in this process over an in-memory store. `actors[i]` is actor i until another process replaces it. */
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
  ended.catch(() => {}); // a test that needs the error awaits `ended`
  return { stop, engines, ended, facts: () => facts?.() };
}

/** Ends a role like a killed process: it stops without a message, and no other process is notified. */
export async function killActor({ store }: LocalFleet, index: number, actor: LocalActor): Promise<void> {
  actor.stop.abort();
  await actor.ended.catch(() => {});
  await store.kv.delete(REGISTERS.beat(`actor.${index}`));
}

export const lost = () => new HoneError("HONE_ERR_COLLECTIVE", "a member is gone");
