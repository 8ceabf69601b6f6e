import type { StreamStore } from "../streams/index.ts";
import type { TransferGroup, TransportKind } from "./messages.ts";
import { REGISTERS } from "./names.ts";

/** A process, and which machine it is on. */
export interface Located {
  readonly name: string;
  readonly host: string;
}

/** Members that can send weights, and the transport. */
export interface Senders {
  readonly way: TransportKind;
  /** At least one. */
  senders(): Promise<readonly Located[]>;
}

/**
 * Assigns receivers to senders: a machine's members get weights from the first sender on their machine; members of
 * machines without a sender go to the senders with fewest members. One group a sender; a sender without members has
 * none.
 */
export function nodeGroups(
  senders: readonly Located[],
  members: readonly Located[],
): Omit<TransferGroup, "number">[] {
  const first = senders.filter(({ host }, i) => senders.findIndex((each) => each.host === host) === i);
  const groups = first.map(({ name, host }) => ({ sender: name, host, members: [] as string[] }));
  const elsewhere = members.filter(({ name, host }) => {
    const own = groups.find((group) => group.host === host);
    own?.members.push(name);
    return own === undefined;
  });
  for (const { name } of elsewhere)
    groups.reduce((a, b) => (b.members.length < a.members.length ? b : a)).members.push(name);
  return groups.filter((group) => group.members.length > 0).map(({ host: _, ...group }) => group);
}

/** Connections that are there, of which each process has one at a time: kept from one update to the next of the same members. */
export class TransferGroups {
  readonly #store: StreamStore;
  #open: readonly TransferGroup[] = [];
  #last = 0;

  constructor(store: StreamStore) {
    this.#store = store;
  }

  /** A folder is written once for all. @param alive where members are */
  async of(
    source: Senders,
    members: readonly string[],
    alive: readonly { readonly member: string; readonly host: string }[],
  ): Promise<readonly TransferGroup[]> {
    const senders = await source.senders();
    if (source.way === "folder") return [{ number: 0, sender: senders[0]!.name, members }];
    const hosts = new Map(alive.map(({ member, host }) => [member, host]));
    const located = members.map((name) => ({ name, host: hosts.get(name) ?? "" }));
    return this.#connected(senders, located);
  }

  /** Drops the connections of groups that lost a member. @param received members that have all data */
  dropLost(groups: readonly TransferGroup[], received: ReadonlySet<string>): Promise<void> {
    const lost = groups.filter(({ members }) => !members.every((member) => received.has(member)));
    return this.#drop((group) => lost.includes(group));
  }

  async #connected(
    senders: readonly Located[],
    members: readonly Located[],
  ): Promise<readonly TransferGroup[]> {
    const groups = nodeGroups(senders, members).map((wanted) => {
      const names = namesOf(wanted);
      const same = this.#open.find((group) => namesOf(group).join() === names.join());
      return same ?? { number: ++this.#last, ...wanted };
    });
    const taken = new Set(groups.flatMap(namesOf));
    await this.#drop((group) => !groups.includes(group) && namesOf(group).some((name) => taken.has(name)));
    this.#open = [...new Set([...this.#open, ...groups])];
    return groups;
  }

  async #drop(which: (group: TransferGroup) => boolean): Promise<void> {
    const dropped = this.#open.filter(which);
    this.#open = this.#open.filter((group) => !dropped.includes(group));
    const { kv } = this.#store;
    for (const { number } of dropped)
      for (const key of (await kv.list(REGISTERS.transfer(number))).keys()) await kv.delete(key);
  }
}

const namesOf = ({ sender, members }: Omit<TransferGroup, "number">): readonly string[] => [
  sender,
  ...members,
];
