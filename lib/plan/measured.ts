import type { Network } from "./network.ts";
import type { MemoryRow } from "./rows.ts";

/** Memory of one device of a role. */
export interface RolePlan {
  readonly role: "actor" | "trainer" | "actor and trainer" | "coordinator";
  /** Number of devices with this role; on the CPU the number of processes, which share its memory. */
  readonly devices: number;
  readonly rows: readonly MemoryRow[];
  readonly total: number;
  /**
   * Tokens of keys and values that the recipe requests, and that fit in the remaining memory; 0 if none are kept. The
   * number that fits is absent if the capacity is unknown.
   */
  readonly keyValueTokens: { readonly asked: number; readonly fit?: number };
}

/** A memory plan without advice on how to make the recipe fit. */
export interface Measured {
  readonly network: Network;
  /** "CPU", or the GPU as the recipe or its driver calls it. */
  readonly device: string;
  /** Bytes of one device; absent for a GPU that neither the recipe nor this machine specifies. */
  readonly capacity?: number;
  readonly roles: readonly RolePlan[];
  /** For processes on the CPU: total memory of those on the fullest of `nodes` machines. */
  readonly together?: { readonly nodes: number; readonly total: number };
  /** Memory of a GPU's trainer on its host. Empty for a plan of the CPU. */
  readonly hostRows: readonly MemoryRow[];
  /** Memory of the GPU's host in bytes; absent if the GPU is not in this machine. */
  readonly hostCapacity?: number;
}

/** True if every role fits its device, and its host; anything fits an unknown capacity. */
export function fits({ capacity = Number.POSITIVE_INFINITY, ...plan }: Measured): boolean {
  return mostOf(plan) <= capacity && fitsHost(plan);
}

/** Bytes of the fullest device. */
export const mostOf = ({ roles, together }: Pick<Measured, "roles" | "together">): number =>
  together?.total ?? Math.max(...roles.map(({ total }) => total));

/** Bytes of the tensors in host memory. */
export const hostOf = ({ hostRows }: Pick<Measured, "hostRows">): number =>
  hostRows.reduce((sum, { bytes }) => sum + bytes, 0);

/** True if the tensors in host memory fit it. */
export const fitsHost = ({
  hostCapacity = Number.POSITIVE_INFINITY,
  ...plan
}: Pick<Measured, "hostRows" | "hostCapacity">): boolean => hostOf(plan) <= hostCapacity;
