// Interface of a group of processes that exchange arrays; face.ts has the rest.

export interface CommunicatorOptions {
  readonly rank: number;
  readonly size: number;
  /** Name or address of this machine at which the others reach it. Default: "127.0.0.1". */
  readonly host?: string;
  /** Limit for a whole collective, and for a connection to a rank. */
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
 * A rank of a group of processes, over Gloo; csrc/dist/communicator.h has the rules. Copies arguments at the call;
 * results are new arrays. Rejects with HONE_ERR_SHAPE for arrays that do not fit, HONE_ERR_COLLECTIVE for ranks that
 * make different calls, for a lost rank and after the time-out, HONE_ERR_ABORTED after abort(): then only close() may
 * be called.
 */
export interface CommunicatorFace {
  readonly rank: number;
  readonly size: number;
  /** The data that each rank needs to connect to this one, by rank. The caller transports entry p to rank p. */
  prepare(): Uint8Array[];
  /** Entry p: what rank p prepared for this one. Call once; resolves when all ranks are connected. */
  connect(blobs: readonly Uint8Array[]): Promise<void>;
  barrier(): Promise<void>;
  /** The values of rank `root`; the other ranks' arguments only give type and length. */
  broadcast<A extends CommunicatorArray>(values: A, root: number): Promise<A>;
  allReduce<A extends CommunicatorArray>(values: A, op: "sum" | "max"): Promise<A>;
  /** [size * n] -> [n], this rank's part. */
  reduceScatter<A extends CommunicatorArray>(values: A, op: "sum" | "max"): Promise<A>;
  /** [n] -> [size * n], rank after rank. */
  allGather<A extends CommunicatorArray>(values: A): Promise<A>;
  /** [size * n]: part p is sent to rank p, part p of the result was received from it. */
  allToAll<A extends CommunicatorArray>(values: A): Promise<A>;
  /** May be called at any time: pending calls reject with HONE_ERR_ABORTED; the other ranks lose this rank. */
  abort(reason: string): void;
  /** Waits for the others to close too, unless the group is lost already. Idempotent. */
  close(): Promise<void>;
}

/** The way of weights to engines of other processes; csrc/trainer/weight_transfer.h has the rules. */
export interface WeightSenderFace {
  /**
   * Sends the current version as rank 0 of the group, while all others receive(). Resolves with the ranks that
   * refused it or received it damaged; rejects with HONE_ERR_COLLECTIVE if a rank is lost, which makes the group
   * unusable.
   */
  sendWeights(group: CommunicatorFace, options?: SendWeightsOptions): Promise<Int32Array>;
}

export interface SendWeightsOptions {
  /** Largest piece. Default: 64 MiB, the most there may be. */
  readonly bucketBytes?: number;
}
