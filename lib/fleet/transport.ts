import type { EngineFace, TrainerFace } from "../native/face.ts";
import type { EngineSpec, TransferPlan } from "./messages.ts";

/** Weights that came whole and were checked, and that no engine uses yet. */
export interface StagedWeights {
  /** Hands them to the engine, which takes them between two of its steps. */
  commit(engine: EngineFace): Promise<void>;
}

/** Receives an actor's weights, and sends those it has to others. */
export interface WeightReceiver {
  /**
   * Takes part in one transfer. Rejects with HONE_ERR_COLLECTIVE if a member was not there in time, with another error
   * if the weights are damaged; then nothing has changed.
   * @param me this member's name in the plan
   */
  receive(plan: TransferPlan, spec: EngineSpec, me: string): Promise<StagedWeights>;
  /**
   * As a sender of the plan, to its members: what was committed last, as it came. Rejects with HONE_ERR_STATE where that is not
   * the plan's version, or is no more here whole; with HONE_ERR_COLLECTIVE where a member was not there in time.
   */
  send(plan: TransferPlan, spec: EngineSpec, me: string): Promise<void>;
  /** Nothing more will come for an engine. */
  forget(engine: string): Promise<void>;
  close(): Promise<void>;
}

/** Sends a trainer's weights. */
export interface WeightSender {
  /**
   * Resolves when those members of the plan that `me` sends to can have them. Rejects with HONE_ERR_COLLECTIVE where one
   * of them was not there in time.
   */
  send(plan: TransferPlan, trainer: TrainerFace, me: string): Promise<void>;
  close(): Promise<void>;
}
