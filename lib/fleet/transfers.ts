import { randomUUID } from "node:crypto";
import type { HoneError } from "../errors.ts";
import type { StreamStore } from "../streams/index.ts";
import { follow } from "./call-log.ts";
import type { Membership } from "./membership.ts";
import {
  type Answer,
  type Control,
  decodeAnswer,
  encodeControl,
  faultOf,
  isOfTheWay,
  type TransferGroup,
  type TransferPlan,
  type TransportKind,
} from "./messages.ts";
import { type FleetSettings, REGISTERS, STREAMS } from "./names.ts";

/** Senders of one update. */
export interface Sending extends Senders {
  readonly version: number;
  /** To the members of the plan. Rejects where one of them is not there in time. */
  send(plan: TransferPlan): Promise<void>;
  /** Whether `send` ends without the members, who are told afterwards: it writes a folder. Default: false. */
  readonly sendsFirst?: boolean;
}

export interface TransferParts {
  readonly store: StreamStore;
  readonly membership: Membership;
  readonly settings: FleetSettings;
  /** Says something to all actors: `tell`, or what does it besides. */
  readonly say: (control: Control) => Promise<void>;
  /** Ends every wait when it aborts. */
  readonly closed: AbortSignal;
}

/** Collects the actors' answers to updates, and tracks late actors. */
export class Answers {
  readonly #store: StreamStore;
  readonly #membership: Membership;
  readonly #settings: FleetSettings;
  readonly #closed: AbortSignal;
  readonly #expected = new Map<number, Map<string, Answer>>();
  /** Actors that did not answer last time; for a while the others do not wait for them. */
  readonly #late = new Map<string, { readonly times: number; readonly untilMs: number }>();
  #heard: (() => void) | undefined;

  constructor({ store, membership, settings, closed }: TransferParts) {
    this.#store = store;
    this.#membership = membership;
    this.#settings = settings;
    this.#closed = closed;
  }

  listen(): Promise<void> {
    const receive = (_key: string, payload: Uint8Array) => {
      const answer = decodeAnswer(payload);
      this.#expected.get(answer.update)?.set(answer.member, answer);
      this.#heard?.();
    };
    return follow(this.#store, STREAMS.answers, this.#closed, { receive });
  }

  /** Before the update is announced. */
  expect(update: number): void {
    this.#expected.set(update, new Map());
  }

  /**
   * Resolves when every member has answered, is gone, or is too late: after `updateMs`, and `readMs` for what it has to read.
   * Time in which this process was suspended does not count: answers sent meanwhile are still to be read.
   */
  async of(update: number, members: readonly string[], readMs = 0): Promise<ReadonlyMap<string, Answer>> {
    const answers = this.#expected.get(update)!;
    const { updateMs, beatMs } = this.#settings;
    const missing = () => members.some((member) => !answers.has(member) && this.#membership.isAlive(member));
    for (let leftMs = updateMs + readMs; missing() && leftMs > 0; ) {
      const begun = performance.now();
      await this.#next();
      leftMs -= Math.min(performance.now() - begun, 2 * beatMs);
    }
    this.#expected.delete(update);
    for (const member of members) this.#note(member, answers.has(member));
    return answers;
  }

  /**
   * Resolves when the sending actors are done: each has answered or is gone, or all its receivers have. It has no
   * deadline of its own: every bucket has one, and a suspended actor is soon dropped as lost.
   */
  async sent({ update, groups }: TransferPlan): Promise<void> {
    const answers = this.#expected.get(update)!;
    const isHeard = (member: string) => answers.has(member) || !this.#membership.isAlive(member);
    const isOver = ({ sender, members }: TransferGroup) => isHeard(sender) || members.every(isHeard);
    while (!groups.every(isOver) && !this.#closed.aborted) await this.#next();
  }

  isLate(member: string): boolean {
    return performance.now() < (this.#late.get(member)?.untilMs ?? 0);
  }

  /** Resolves at the next answer or the next poll of the members. */
  #next(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#settings.beatMs);
      this.#heard = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #note(member: string, answered: boolean): void {
    const times = (this.#late.get(member)?.times ?? 0) + 1;
    const untilMs = performance.now() + this.#settings.updateMs * 2 ** Math.min(times, 6);
    if (answered) this.#late.delete(member);
    else this.#late.set(member, { times, untilMs });
  }
}

/** Outcome of one transfer. */
export interface Attempt {
  /** Members that have all weights. */
  readonly received: readonly string[];
  /** Senders that are there no more, or whose members say that they did not get them. */
  readonly unable: readonly string[];
  /** Fault that would recur with other members. */
  readonly fault?: unknown;
}

const isGood = (answer: Answer | undefined): boolean => answer !== undefined && answer.fault === undefined;

/** A member that says nothing is late itself. */
const missed = ({ members }: TransferGroup, answers: ReadonlyMap<string, Answer>): boolean =>
  members.some((member) => answers.get(member)?.fault !== undefined);

/** Transfers of weights to actors, from trainers or from other actors. */
export class Transfers {
  /** Ordinal of the last one. */
  last = 0;
  readonly #parts: TransferParts;
  readonly #answers: Answers;
  readonly #groups: TransferGroups;
  #told: Promise<unknown> = Promise.resolve();

  constructor(parts: TransferParts) {
    this.#parts = parts;
    this.#answers = new Answers(parts);
    this.#groups = new TransferGroups(parts.store);
  }

  /** Sends a message to all actors, after all earlier ones. */
  tell(control: Control): Promise<void> {
    const told = this.#told.then(async () => {
      await this.#parts.store.append(STREAMS.control, randomUUID(), encodeControl(control));
    });
    this.#told = told.catch(() => {});
    return told;
  }

  /** Hears the actors' answers until the end. Rejects with what the store says. */
  listen(): Promise<void> {
    return this.#answers.listen();
  }

  /** True if the member recently did not answer in time. */
  isLate(member: string): boolean {
    return this.#answers.isLate(member);
  }

  /** Sending by actors that have the weights: they start when they read the plan. Undefined if there are none. */
  fromActors(
    { version, way }: Pick<Sending, "version" | "way">,
    actors: readonly Located[],
  ): Sending | undefined {
    if (actors.length === 0) return undefined;
    return { version, way, senders: async () => actors, send: (plan) => this.#answers.sent(plan) };
  }

  /** One transfer, when the one before is over: it is announced, sent, and answered. */
  async attempt(engine: string, source: Sending, members: readonly string[]): Promise<Attempt> {
    const update = ++this.last;
    this.#answers.expect(update);
    const { version, way } = source;
    const groups = await this.#groups.of(source, members, this.#parts.membership.alive);
    const plan = { update, engine, version, way, groups };
    const begun = performance.now();
    const sent = await this.#sent(plan, source);
    const written = performance.now() - begun;
    const answers = await this.#answers.of(update, members, source.sendsFirst ? 4 * written : undefined);
    const received = members.filter((member) => isGood(answers.get(member)));
    await this.#groups.dropLost(groups, new Set(received));
    const unable = groups.filter((group) => missed(group, answers)).map(({ sender }) => sender);
    const own = [...answers.values()].find(({ fault }) => fault !== undefined && !isOfTheWay(fault.code));
    if (received.length === 0 && own !== undefined)
      return { received, unable, fault: faultOf(own.fault!, own.member) };
    if (sent !== undefined && !isOfTheWay((sent.error as HoneError).code))
      return { received, unable, fault: sent.error };
    return { received, unable }; // each has them whole, whatever became of others
  }

  /** What the sender rejected with, if it did. */
  async #sent(plan: TransferPlan, source: Sending): Promise<{ readonly error: unknown } | undefined> {
    const send = () =>
      source.send(plan).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
    const say = () => this.#parts.say({ kind: "update", ...plan });
    if (source.sendsFirst) {
      const sent = await send();
      await say();
      return sent;
    }
    // both are said before either is waited for: one transaction has them
    const said = say();
    const sending = send();
    await said;
    return await sending;
  }
}

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
