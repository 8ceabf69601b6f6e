import { hostname } from "node:os";
import { HoneError } from "../errors.ts";
import type { EngineFace, TrainerFace } from "../native/face.ts";
import type { Core } from "../orchestration/index.ts";
import type { TransferPlan, TransportKind } from "./messages.ts";
import { rankName } from "./names.ts";
import type { WeightSource, WeightTaker } from "./published.ts";
import { callOn, forwarded, type TrainerCall, traitsOf } from "./trainer-calls.ts";
import type { Senders, WeightTransport } from "./transport.ts";
import type { Updates } from "./updates.ts";

/** A trainer without engines of its own, and how its weights leave it. */
export interface SendingTrainer extends Pick<Senders, "senders"> {
  readonly trainer: TrainerFace;
  readonly send: (plan: TransferPlan) => Promise<void>;
}

/**
 * A trainer that publishes its weights to actors' engines. Runs calls one after another, in order; between calls,
 * sends the current weights to actors that missed them.
 */
export function fleetTrainer(sending: SendingTrainer, updates: Updates, way: TransportKind): TrainerFace {
  const inner = sending.trainer;
  let state = 0;
  const source: WeightSource = {
    way,
    get version() {
      return inner.version;
    },
    get state() {
      return state;
    },
    send: sending.send,
    senders: sending.senders,
    // a folder is announced after it is written, because its members' deadline depends on how long the writing took
    sendsFirst: way === "folder",
  };
  const turn = <T>(name: TrainerCall, work: () => Promise<T>): Promise<T> =>
    updates.exclusive(() => {
      if (traitsOf(name).weights) state += 1;
      return work();
    });
  const forward = (name: TrainerCall, args: readonly unknown[]) => {
    const work = () => callOn(inner, name, args);
    return traitsOf(name).beside ? work() : turn(name, work);
  };
  return {
    ...forwarded(forward),
    get version() {
      return inner.version;
    },
    publish: (engine) => updates.exclusive(async () => ofActors(engine).takeFrom(source)),
    step: (batch, options, publishTo) =>
      turn("step", async () => {
        const report = await inner.step(batch, options);
        if (publishTo === undefined || report.skipped) return report;
        const begun = performance.now();
        await ofActors(publishTo).takeFrom(source);
        return { ...report, publishSeconds: (performance.now() - begun) / 1000 };
      }),
  };
}

function ofActors(engine: EngineFace & Partial<WeightTaker>): WeightTaker {
  if (engine.takeFrom !== undefined) return engine as EngineFace & WeightTaker;
  throw new HoneError("HONE_ERR_USAGE", "publish: the engine is not one of this fleet's actors");
}

/** Trainers of the coordinator's own process. */
export function localTrainers(
  core: Pick<Core, "trainer">,
  transport: Pick<WeightTransport, "send">,
  host: string = hostname(),
): (...args: Parameters<Core["trainer"]>) => SendingTrainer {
  const name = rankName(0, 0);
  const senders = async () => [{ name, host }];
  return (config, options) => {
    const trainer = core.trainer(config, options);
    return { trainer, send: (plan) => transport.send(plan, trainer, name), senders };
  };
}
