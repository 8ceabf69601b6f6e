import { HoneError } from "../errors.ts";

/** How many processes of each kind a run has, over all nodes. */
export interface Roles {
  readonly actors: number;
  readonly trainers: number;
}

/** A process of a node, and which of the node's GPUs is its own. */
export interface Seat {
  readonly role: "actor" | "trainer";
  /** Among those of its role, over all nodes. */
  readonly rank: number;
  /** Of how many. */
  readonly worldSize: number;
  /** Among the processes of its node, trainers first. */
  readonly slot: number;
}

/**
 * Who runs where: ranks follow each other over the nodes, each node has its part of both roles, and no node has more than
 * one process more than another. Trainer 0 is on the first. Throws HONE_ERR_USAGE where a node would have nothing to do.
 */
export function worldMap({ actors, trainers }: Roles, nodes: number): Seat[][] {
  const all = [...seats("trainer", trainers), ...seats("actor", actors)];
  if (all.length < nodes)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${actors} actors and ${trainers} trainers are fewer than ${nodes} nodes`,
      { hint: "Ask for fewer nodes, or for more processes: hardware.processes counts those of all nodes." },
    );
  // one line of both roles, each spread evenly along it, cut into equal parts
  const line = all.sort((a, b) => a.rank / a.worldSize - b.rank / b.worldSize);
  const cut = (node: number) => Math.ceil((node * line.length) / nodes);
  return Array.from({ length: nodes }, (_, node) => {
    const own = line.slice(cut(node), cut(node + 1));
    const trainersFirst = own.sort((a, b) => b.role.localeCompare(a.role));
    return trainersFirst.map((seat, slot) => ({ ...seat, slot }));
  });
}

const seats = (role: Seat["role"], worldSize: number): Omit<Seat, "slot">[] =>
  Array.from({ length: worldSize }, (_, rank) => ({ role, rank, worldSize }));

/**
 * The GPU of a seat: the `slot`-th of those that the node's job may use, as CUDA_VISIBLE_DEVICES names them. Throws
 * HONE_ERR_USAGE where there is none for it.
 */
export function deviceOf(slot: number, visible: string | undefined): string {
  if (visible === undefined || visible === "") return String(slot);
  const own = visible.split(",")[slot];
  if (own !== undefined) return own;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `CUDA_VISIBLE_DEVICES is ${JSON.stringify(visible)}, and process ${slot} of this node needs a GPU of its own`,
    { hint: "Give the job as many GPUs a node as the recipe has processes there." },
  );
}
