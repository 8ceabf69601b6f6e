// Plans which process sends weights to which others, and how long this may take; used by runs and by their simulation.

/** A process, and which machine it is on. */
export interface Located {
  readonly name: string;
  readonly host: string;
}

/** Members that get weights from one sender. */
export interface SenderGroup {
  readonly sender: string;
  readonly members: readonly string[];
}

/**
 * Assigns receivers to senders: a machine's members get weights from the first sender on their machine;
 * members of machines without a sender go to the senders with fewest members. Returns one group for each
 * sender that has members.
 */
export function nodeGroups(senders: readonly Located[], members: readonly Located[]): SenderGroup[] {
  const first = senders.filter(({ host }, i) => senders.findIndex((each) => each.host === host) === i);
  const groups = first.map((sender) => ({ sender, members: [] as Located[] }));
  const elsewhere = members.filter((member) => {
    const own = groups.find((group) => group.sender.host === member.host);
    own?.members.push(member);
    return own === undefined;
  });
  for (const member of elsewhere)
    groups.reduce((a, b) => (b.members.length < a.members.length ? b : a)).members.push(member);
  return groups
    .filter((group) => group.members.length > 0)
    .map((group) => ({ sender: group.sender.name, members: inTreeOrder(group.sender, group.members) }));
}

/**
 * Orders members so that a broadcast crosses from machine to machine seldom: a member gets the weights from the place
 * whose number lacks the highest bit of its own (csrc/dist/host_collectives.cc); the sender is place 0. The first
 * member of each other machine comes first, then those of the machine from which a place gets them.
 */
function inTreeOrder(sender: Located, members: readonly Located[]): string[] {
  const hosts = [...new Set(members.map(({ host }) => host))];
  const left = new Map(hosts.map((host) => [host, members.filter((each) => each.host === host)]));
  const count = (host: string) => left.get(host)?.length ?? 0;
  const largest = () => hosts.reduce((a, b) => (count(b) > count(a) ? b : a));
  const others = hosts.filter((host) => host !== sender.host).sort((a, b) => count(b) - count(a));
  const places = [sender];
  while (places.length <= members.length) {
    const from = places[places.length - 2 ** Math.floor(Math.log2(places.length))]!.host;
    const host = others.shift() ?? (count(from) > 0 ? from : largest());
    places.push(left.get(host)!.shift()!);
  }
  return places.slice(1).map(({ name }) => name);
}

/** Milliseconds for each member's part in an update of weights of any size. */
export const LEAST_UPDATE_MS = 5000;
/** Bytes a second of an update until one was measured. A faster one shortens no deadline: the next may send more. */
const ASSUMED_RATE = 200e6;
/** How many times slower than measured an update may be. */
const SLACK = 4;

/** Deadlines of weight updates, from the bytes of the weights and the rate of the last complete update. */
export class UpdateRate {
  #rate = ASSUMED_RATE;

  /** Milliseconds for each member's part in an update. @param leastMs for weights of any size */
  withinMs(leastMs: number, bytes: number): number {
    return leastMs + Math.ceil((1000 * SLACK * bytes) / this.#rate);
  }

  /** Takes the duration of an update in which no member was missing. */
  measured(bytes: number, ms: number): void {
    if (bytes > 0) this.#rate = Math.min(ASSUMED_RATE, (1000 * bytes) / ms);
  }
}
