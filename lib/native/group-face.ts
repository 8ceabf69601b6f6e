// Interface of a group of processes that exchange arrays; face.ts has the rest.

export interface CommunicatorOptions {
  readonly rank: number;
  readonly size: number;
  /** Name or address at which the other ranks reach this machine. Default: "127.0.0.1". */
  readonly host?: string;
  /** Time limit for a whole collective, and for connecting to a rank. */
  readonly timeoutMs: number;
}

export type CommunicatorArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint32Array;

/**
 * A rank of a group of processes, over Gloo; csrc/dist/communicator.h has the rules. Copies arguments at the
 * call; results are new arrays. Rejects with HONE_ERR_SHAPE for arrays that do not fit together;
 * HONE_ERR_COLLECTIVE for ranks that make different calls, a lost rank or a time-out; HONE_ERR_ABORTED after
 * abort(). After the last two only close() may be called.
 */
export interface CommunicatorFace {
  readonly rank: number;
  readonly size: number;
  /** The data with which each rank connects to this one, by rank. The caller sends entry p to rank p. */
  prepare(): Uint8Array[];
  /**
   * Entry p is the data that rank p prepared for this one. Call once; resolves when all ranks are connected.
   */
  connect(blobs: readonly Uint8Array[]): Promise<void>;
  barrier(): Promise<void>;
  /** Returns the values of rank `root`; other ranks' arguments only give type and length. */
  broadcast<A extends CommunicatorArray>(values: A, root: number): Promise<A>;
  allReduce<A extends CommunicatorArray>(values: A, op: "sum" | "max"): Promise<A>;
  /** [size * n] -> [n]: this rank's part of the sum or maximum. */
  reduceScatter<A extends CommunicatorArray>(values: A, op: "sum" | "max"): Promise<A>;
  /** [n] -> [size * n]: the ranks' values in order of rank. */
  allGather<A extends CommunicatorArray>(values: A): Promise<A>;
  /** [size * n]: part p is sent to rank p, part p of the result was received from it. */
  allToAll<A extends CommunicatorArray>(values: A): Promise<A>;
  /** May be called at any time: pending calls reject with HONE_ERR_ABORTED; the other ranks lose this rank. */
  abort(reason: string): void;
  /** Waits for the other ranks to close too, unless the group is already lost. Idempotent. */
  close(): Promise<void>;
}

/** Sends weights to engines of other processes; csrc/trainer/weight_transfer.h has the rules. */
export interface WeightSenderFace {
  /**
   * Sends the current version as rank 0 of the group, while all others receive(): all weights, or of adapters on the CPU
   * A and B, after their base if a receiver does not have it. Resolves with the ranks that
   * refused it or received it damaged; rejects with HONE_ERR_COLLECTIVE if a rank is lost, which makes the group
   * unusable.
   */
  sendWeights(group: CommunicatorFace, options?: SendWeightsOptions): Promise<Int32Array>;
}

export interface SendWeightsOptions {
  /** Size of a bucket, the bytes that are sent at a time. Default: 64 MiB, which is also the maximum. */
  readonly bucketBytes?: number;
}
