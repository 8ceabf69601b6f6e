// What receives the weights of a trainer in another process looks like; face.ts has the rest.
import type { DeviceName } from "../device.ts";
import type { EngineFace, WeightTypes } from "./face.ts";
import type { CommunicatorFace } from "./group-face.ts";

/** The trainer's and the engines': weights come as they are packed. */
export interface WeightReceiverOptions extends WeightTypes {
  /** "cuda": from GPU to GPU over NCCL. Default: "cpu". */
  readonly device?: DeviceName;
}

/**
 * Weights for engines of this process, from a trainer of another process or from a process that has them of it. What is half
 * received never reaches an engine. Holds one snapshot, and a second one while an engine on the CPU holds the first.
 */
export interface WeightReceiverFace {
  /**
   * Resolves with the version that rank 0 of the group sent, once all of it is here. Rejects with HONE_ERR_STATE for one older than
   * was committed, HONE_ERR_CONFIG for another model or other types and as rank 0, HONE_ERR_FORMAT for damaged bytes, HONE_ERR_ABORTED where another rank
   * refused: the group goes on. HONE_ERR_COLLECTIVE: the group is lost.
   */
  receive(group: CommunicatorFace): Promise<number>;
  /**
   * As rank 0 of a group whose others receive(): what was committed last, in the buckets and with the checksums that it came with.
   * Resolves with its version. Rejects with HONE_ERR_STATE, before anything is sent, where nothing was committed, or something
   * came since; HONE_ERR_CONFIG as another rank; HONE_ERR_COLLECTIVE: the group is lost.
   */
  send(group: CommunicatorFace): Promise<number>;
  /** Hands what was received last to an engine, which takes it at its next step boundary; resolves with the version. */
  commit(engine: EngineFace): Promise<number>;
  close(): Promise<void>;
}
