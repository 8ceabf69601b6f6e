import type { Network } from "./network.ts";
import type { MemoryRow } from "./rows.ts";

/** What one device of a role holds. */
export interface RolePlan {
  readonly role: "actor" | "trainer" | "actor and trainer";
  /** How many such devices there are. */
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
  /** What a GPU's trainer keeps in the memory of its host. None for a plan of the CPU. */
  readonly hostRows: readonly MemoryRow[];
  /** Bytes of that host; left out for a GPU that is not this machine's. */
  readonly hostCapacity?: number;
}

/** Whether every role fits its device, and its host; what is of unknown capacity fits anything. */
export function fits({ roles, capacity = Number.POSITIVE_INFINITY, ...host }: Measured): boolean {
  return roles.every(({ total }) => total <= capacity) && fitsHost(host);
}

/** Whether what lies in the host's memory fits there. */
export function fitsHost({
  hostRows,
  hostCapacity = Number.POSITIVE_INFINITY,
}: Pick<Measured, "hostRows" | "hostCapacity">): boolean {
  return hostRows.reduce((sum, { bytes }) => sum + bytes, 0) <= hostCapacity;
}
