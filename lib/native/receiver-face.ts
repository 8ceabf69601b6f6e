// Interface of a receiver of weights from a trainer in another process; face.ts has the rest.
import type { DeviceName } from "../device.ts";
import type { EngineFace, WeightTypes } from "./face.ts";
import type { CommunicatorFace } from "./group-face.ts";

/** Storage types of the weights; equal to those of trainer and engines, since weights are sent in packed form. */
export interface WeightReceiverOptions extends WeightTypes {
  /** "cuda": receives from GPU to GPU over NCCL. Default: "cpu". */
  readonly device?: DeviceName;
}

/**
 * Receives weights for engines of this process, from a trainer of another process or from a process that
 * forwards them. An incomplete version never reaches an engine. Holds one snapshot, and a second one while an
 * engine on the CPU uses the first. From a trainer of adapters on the CPU it receives A and B alone: it keeps their
 * base, which receivers of a process share, and forms the weights.
 */
export interface WeightReceiverFace {
  /**
   * Resolves with the version that rank 0 of the group sent, once it is complete. Rejects with HONE_ERR_STATE for a
   * version older than the committed one, HONE_ERR_CONFIG for another model or other types and on rank 0,
   * HONE_ERR_FORMAT for damaged bytes, HONE_ERR_ABORTED if another rank refused; the group remains usable.
   * HONE_ERR_COLLECTIVE: the group is lost.
   */
  receive(group: CommunicatorFace): Promise<number>;
  /**
   * As rank 0 of a group whose others receive(): sends the last committed version, with its original buckets and
   * checksums. Resolves with its version. Rejects with HONE_ERR_STATE, before sending, if nothing was committed, or a
   * later version was received since; HONE_ERR_CONFIG on another rank; HONE_ERR_COLLECTIVE: the group is lost.
   */
  send(group: CommunicatorFace): Promise<number>;
  /** Passes the last received version to an engine, which takes it at its next step boundary; resolves with the version. */
  commit(engine: EngineFace): Promise<number>;
  close(): Promise<void>;
}
