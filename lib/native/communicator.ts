import { HoneError } from "../errors.ts";
import type { NativeCommunicator } from "./binding.ts";
import { awaited, translated } from "./errors.ts";
import type { CommunicatorArray, CommunicatorFace, CommunicatorOptions } from "./group-face.ts";
import { binding } from "./load.ts";

/**
 * One rank of a group of processes, in the addon: {@link CommunicatorFace}. Runs its calls in order on a
 * thread of its own.
 */
export class Communicator implements CommunicatorFace {
  /** Native handle, for modules that use the group. */
  readonly native: NativeCommunicator;

  /**
   * Starts to listen at the host. Throws HONE_ERR_UNSUPPORTED without Gloo, HONE_ERR_IO for a host that is
   * not this machine, HONE_ERR_SHAPE for a rank outside of 0 to `size` - 1, HONE_ERR_CONFIG naming the
   * option.
   */
  constructor(options: CommunicatorOptions) {
    const { NativeCommunicator } = binding();
    this.native = translated(() => new NativeCommunicator(options));
  }

  get rank(): number {
    return this.native.rank;
  }

  get size(): number {
    return this.native.size;
  }

  prepare(): Uint8Array[] {
    return translated(() => this.native.prepare());
  }

  connect(blobs: readonly Uint8Array[]): Promise<void> {
    return awaited(() => this.native.connect(blobs));
  }

  barrier(): Promise<void> {
    return awaited(() => this.native.barrier());
  }

  broadcast<A extends CommunicatorArray>(values: A, root: number): Promise<A> {
    return awaited(() => this.native.broadcast(values, root));
  }

  allReduce<A extends CommunicatorArray>(values: A, op: "sum" | "max"): Promise<A> {
    return awaited(() => this.native.allReduce(values, op));
  }

  reduceScatter<A extends CommunicatorArray>(values: A, op: "sum" | "max"): Promise<A> {
    return awaited(() => this.native.reduceScatter(values, op));
  }

  allGather<A extends CommunicatorArray>(values: A): Promise<A> {
    return awaited(() => this.native.allGather(values));
  }

  allToAll<A extends CommunicatorArray>(values: A): Promise<A> {
    return awaited(() => this.native.allToAll(values));
  }

  abort(reason: string): void {
    translated(() => this.native.abort(reason));
  }

  close(): Promise<void> {
    return awaited(() => this.native.close());
  }
}

/**
 * The native handle of a group. Throws HONE_ERR_USAGE, naming `what`, for a group that is not a Communicator.
 */
export function nativeCommunicator(group: CommunicatorFace, what: string): NativeCommunicator {
  if (group instanceof Communicator) return group.native;
  throw new HoneError("HONE_ERR_USAGE", `${what}: the communicator is not one of this process`);
}
