import type { Network } from "./network.ts";
import type { MemoryRow } from "./rows.ts";

/** What one device of a role holds. */
export interface RolePlan {
  readonly role: "actor" | "trainer" | "actor and trainer" | "coordinator";
  /** How many such devices there are; on the CPU: processes, which share its memory. */
  readonly devices: number;
  readonly rows: readonly MemoryRow[];
  readonly total: number;
  /**
   * Tokens of keys and values that the recipe asks for, and that fit beside everything else; 0 where none are kept. How
   * many fit is left out where the capacity is not known.
   */
  readonly keyValueTokens: { readonly asked: number; readonly fit?: number };
}

/** A plan without what could be done about it. */
export interface Measured {
  readonly network: Network;
  /** "CPU", or the GPU as the recipe or its driver calls it. */
  readonly device: string;
  /** Bytes of one device; left out for a GPU that neither the recipe nor this machine knows. */
  readonly capacity?: number;
  readonly roles: readonly RolePlan[];
  /** Of processes on the CPU: what those of the fullest of `nodes` machines hold together. */
  readonly together?: { readonly nodes: number; readonly total: number };
  /** What a GPU's trainer keeps in the memory of its host. None for a plan of the CPU. */
  readonly hostRows: readonly MemoryRow[];
  /** Bytes of that host; left out for a GPU that is not this machine's. */
  readonly hostCapacity?: number;
}

/** Whether every role fits its device, and its host; what is of unknown capacity fits anything. */
export function fits({ capacity = Number.POSITIVE_INFINITY, ...plan }: Measured): boolean {
  return mostOf(plan) <= capacity && fitsHost(plan);
}

/** Bytes of the fullest device. */
export const mostOf = ({ roles, together }: Pick<Measured, "roles" | "together">): number =>
  together?.total ?? Math.max(...roles.map(({ total }) => total));

/** Whether what lies in the host's memory fits there. */
export function fitsHost({
  hostRows,
  hostCapacity = Number.POSITIVE_INFINITY,
}: Pick<Measured, "hostRows" | "hostCapacity">): boolean {
  return hostRows.reduce((sum, { bytes }) => sum + bytes, 0) <= hostCapacity;
}
