import { HoneError } from "../errors.ts";
import type { Role } from "../fleet/index.ts";

/** Number of processes of each role, over all nodes. */
export interface Roles {
  readonly actors: number;
  readonly trainers: number;
  /** Hosts that judge, of which none has a GPU. Default 0. */
  readonly verifiers?: number | undefined;
}

/** A process of a node, and which of the node's GPUs is its own where it has one. */
export interface Placement {
  readonly role: Role;
  /** Among those of its role, over all nodes. */
  readonly rank: number;
  /** Number of processes of its role. */
  readonly worldSize: number;
  /** Among the processes of its node: trainers, then actors, then verifier hosts. */
  readonly slot: number;
}

const ORDER: readonly Role[] = ["trainer", "actor", "verifier"];

/**
 * Assigns processes to nodes: ranks follow each other over the nodes, each node has its share of the trainers and
 * actors, verifier hosts go where fewest others are, and no node has more than one process more than another. Trainer 0
 * is on the first node. Throws HONE_ERR_USAGE if a node would have nothing to do.
 */
export function placeProcesses({ actors, trainers, verifiers = 0 }: Roles, nodes: number): Placement[][] {
  if (actors + trainers + verifiers < nodes)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${actors} actors, ${trainers} trainers and ${verifiers} verifier hosts are fewer than ${nodes} nodes`,
      { hint: "Ask for fewer nodes, or for more processes: hardware.processes counts those of all nodes." },
    );
  // one line of both roles, each spread evenly along it, cut into equal parts
  const line = [...placements("trainer", trainers), ...placements("actor", actors)].sort(
    (a, b) => a.rank / a.worldSize - b.rank / b.worldSize,
  );
  const cut = (node: number) => Math.ceil((node * line.length) / nodes);
  const parts = Array.from({ length: nodes }, (_, node) => line.slice(cut(node), cut(node + 1)));
  const hosts = evenedOut(
    parts.map(({ length }) => length),
    verifiers,
  );
  const left = placements("verifier", verifiers);
  return parts.map((part, node) => {
    const ordered = [...part, ...left.splice(0, hosts[node])].sort(
      (a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role),
    );
    return ordered.map((placement, slot) => ({ ...placement, slot }));
  });
}

/** Number to add to each node, one after another to the smallest. */
function evenedOut(sizes: readonly number[], count: number): number[] {
  const more = sizes.map(() => 0);
  for (let i = 0; i < count; i++) {
    const all = sizes.map((size, node) => size + more[node]!);
    more[all.indexOf(Math.min(...all))]! += 1;
  }
  return more;
}

const placements = (role: Placement["role"], worldSize: number): Omit<Placement, "slot">[] =>
  Array.from({ length: worldSize }, (_, rank) => ({ role, rank, worldSize }));

/** Number of GPUs the fullest node needs: one a process that trains or samples. */
export const devicesANode = (nodes: readonly (readonly Placement[])[]): number =>
  Math.max(...nodes.map((placements) => placements.filter(({ role }) => role !== "verifier").length));
