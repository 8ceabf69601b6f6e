import { HoneError } from "../errors.ts";
import type { Role } from "../fleet/index.ts";

/** Number of processes of each role, over all nodes. */
export interface Roles {
  readonly actors: number;
  readonly trainers: number;
  /** Verifier hosts, which have no GPU. Default 0. */
  readonly verifiers?: number | undefined;
}

/** A process of a node, and the index of its GPU if it has one. */
export interface Placement {
  readonly role: Role;
  /** Rank among the processes of its role, over all nodes. */
  readonly rank: number;
  /** Number of processes of its role. */
  readonly worldSize: number;
  /** Index among the processes of its node: trainers, then actors, then verifier hosts. */
  readonly slot: number;
}

const ORDER: readonly Role[] = ["trainer", "actor", "verifier"];

/**
 * Assigns processes to nodes: ranks are consecutive over the nodes, each node gets its share of the trainers and
 * actors, verifier hosts go to the nodes with the fewest others, and process counts differ by at most one. Trainer 0
 * is on the first node. Throws HONE_ERR_USAGE if a node would be idle.
 */
export function placeProcesses({ actors, trainers, verifiers = 0 }: Roles, nodes: number): Placement[][] {
  if (actors + trainers + verifiers < nodes)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${actors} actors, ${trainers} trainers and ${verifiers} verifier hosts are fewer than ${nodes} nodes`,
      { hint: "Ask for fewer nodes, or for more processes: hardware.processes counts those of all nodes." },
    );
  // merges trainers and actors evenly into one list and cuts this list into equal parts
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

/**
 * Distributes `count` processes, each to the node with the fewest so far; returns the number for each node.
 */
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

/** Number of GPUs that the fullest node needs: one per process that trains or samples. */
export const devicesANode = (nodes: readonly (readonly Placement[])[]): number =>
  Math.max(...nodes.map((placements) => placements.filter(({ role }) => role !== "verifier").length));
