import { type Located, nodeGroups } from "../shared/weights/weight-update.ts";
import { ASSUMED } from "./assumptions.ts";

/** Weights that go from trainers' cards to actors' cards, and the machines on which these are. */
export interface SimulatedUpdate {
  readonly bytes: number;
  readonly actors: number;
  readonly trainers: number;
  readonly nodes: number;
}

/** Processes of a role, divided over the nodes as agents start them: the numbers of two nodes differ by at most one. */
const spread = (role: string, count: number, nodes: number): Located[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `${role}.${i}`,
    host: String(Math.floor((i * nodes) / count)),
  }));

/**
 * Seconds until all actors have the weights. The groups are a run's: one sender a node. Its card broadcasts bucket by
 * bucket, and each actor copies a bucket to its host's memory before the next one comes
 * (csrc/trainer/weight_transfer.cc). A broadcast is as fast as its slowest link.
 */
export function updateSeconds({ bytes, actors, trainers, nodes }: SimulatedUpdate): number {
  const members = spread("actor", actors, nodes);
  const senders = spread("trainer", trainers, nodes);
  const hosts = new Map([...senders, ...members].map(({ name, host }) => [name, host]));
  const seconds = nodeGroups(senders, members).map(({ sender, members: group }) => {
    const isInside = group.every((member) => hosts.get(member) === hosts.get(sender));
    const link = isInside ? ASSUMED.nodeBandwidth : ASSUMED.networkBandwidth;
    return bytes / link + bytes / ASSUMED.hostBandwidth;
  });
  return Math.max(...seconds);
}
