// What a group of processes that exchange arrays looks like; face.ts has the rest.

export interface CommunicatorOptions {
  readonly rank: number;
  readonly size: number;
  /** Name or address of this machine at which the others reach it. Default: "127.0.0.1". */
  readonly host?: string;
  /** Of a collective from its beginning to its end, and of a connection to a rank. */
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
 * A rank of a group of processes, over Gloo; csrc/dist/communicator.h has the rules. Arguments are copied at the call, results
 * are new arrays. Rejects with HONE_ERR_SHAPE for arrays that do not fit, HONE_ERR_COLLECTIVE for ranks that make different
 * calls, a lost rank and after the time-out, HONE_ERR_ABORTED after abort(): then only close() is left.
 */
export interface CommunicatorFace {
  readonly rank: number;
  readonly size: number;
  /** What each rank needs to reach this one, by rank. Somebody carries entry p to rank p. */
  prepare(): Uint8Array[];
  /** Entry p: what rank p prepared for this one. Once; resolves when all ranks are connected. */
  connect(blobs: readonly Uint8Array[]): Promise<void>;
  barrier(): Promise<void>;
  /** The values of rank `root`; those of the others say type and length alone. */
  broadcast<A extends CommunicatorArray>(values: A, root: number): Promise<A>;
  allReduce<A extends CommunicatorArray>(values: A, op: "sum" | "max"): Promise<A>;
  /** [size * n] -> [n], this rank's part. */
  reduceScatter<A extends CommunicatorArray>(values: A, op: "sum" | "max"): Promise<A>;
  /** [n] -> [size * n], rank after rank. */
  allGather<A extends CommunicatorArray>(values: A): Promise<A>;
  /** [size * n]: part p goes to rank p, part p of the result came from it. */
  allToAll<A extends CommunicatorArray>(values: A): Promise<A>;
  /** At any time: whoever waits gets HONE_ERR_ABORTED, here; the others lose this rank. */
  abort(reason: string): void;
  /** Waits for the others to close too, unless the group is lost already. Idempotent. */
  close(): Promise<void>;
}

/** The way of weights to engines of other processes; csrc/trainer/weight_transfer.h has the rules. */
export interface WeightSenderFace {
  /**
   * As rank 0 of the group, while all others receive(): the current version. Resolves with the ranks that refused it or got it
   * damaged; rejects with HONE_ERR_COLLECTIVE where a rank is lost, and then the group is.
   */
  sendWeights(group: CommunicatorFace, options?: SendWeightsOptions): Promise<Int32Array>;
}

export interface SendWeightsOptions {
  /** Largest piece. Default: 64 MiB, the most there may be. */
  readonly bucketBytes?: number;
}
