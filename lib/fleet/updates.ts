import { randomUUID } from "node:crypto";
import { HoneError } from "../errors.ts";
import { type Located, UpdateRate } from "../shared/weights/weight-update.ts";
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
} from "./messages.ts";
import { type FleetSettings, STREAMS } from "./names.ts";
import { type Published, PublishedVersions, type Sending, type WeightSource } from "./published.ts";
import { TransferGroups } from "./transport.ts";

/**
 * Sends weights to the actors in two phases: all receive them, then those with complete weights may use them. An
 * actor that does not answer in time is left out and samples nothing new until it has caught up. One update at a
 * time.
 */
export class Updates {
  /** Called with each version that actors may use, in the order of publication; fault-injection tests wait for it. */
  onPublished: (version: number) => void = () => {};
  /** Error for callers that wait for an actor, when no actor will come. */
  failure: Error | undefined;
  readonly published: PublishedVersions;
  /** Bytes of an engine's weights, by engine: they decide how long an update may take. */
  readonly bytes: Map<string, number>;
  readonly #store: StreamStore;
  readonly #members: Membership;
  readonly #settings: FleetSettings;
  readonly #transfers: Transfers;
  readonly #closed = new AbortController();
  #said: Promise<unknown> = Promise.resolve();
  #turn: Promise<unknown> = Promise.resolve();
  #busy = 0;
  /** A transfer from actors to actors: the trainer's own waits for its end. */
  #amongActors: Promise<unknown> = Promise.resolve();
  #publishing = false;

  constructor(parts: UpdateParts) {
    const { store, membership, settings } = parts;
    this.#store = store;
    this.published = new PublishedVersions(membership);
    this.#members = membership;
    this.#settings = settings;
    const say = (control: Control) => this.say(control);
    this.#transfers = new Transfers({ ...parts, say }, this.#closed.signal);
    this.bytes = this.#transfers.bytes;
  }

  /** Receives the actors' answers until `close`. Rejects with the store's error. */
  listen(): Promise<void> {
    return this.#transfers.answers.listen();
  }

  /** Appends a message for all actors, after the earlier messages. */
  say(control: Control): Promise<void> {
    const said = this.#said.then(async () => {
      await this.#store.append(STREAMS.control, randomUUID(), encodeControl(control));
    });
    this.#said = said.catch(() => {});
    return said;
  }

  /** Runs work during which no actor catches up from the trainer, since its weights may change. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    const done = this.#turn.then(work).finally(() => (this.#busy -= 1));
    this.#turn = done.catch(() => {});
    return done;
  }

  /**
   * Publishes to all live actors, within `exclusive`. Waits for the first actor; throws HONE_ERR_COLLECTIVE
   * if none joins in time, or `failure`.
   */
  async publish(engine: string, source: WeightSource): Promise<number> {
    const { version, state } = source;
    this.#publishing = true;
    try {
      await this.#amongActors;
      const members = new Set(await this.#received(engine, source));
      await this.#commit(engine, { version, source, state, members, unable: new Set() });
      this.onPublished(version);
      return version;
    } finally {
      this.#publishing = false;
    }
  }

  close = (): void => this.#closed.abort();

  /** Members that received all weights, at least one. */
  async #received(engine: string, source: WeightSource): Promise<readonly string[]> {
    const deadline = performance.now() + this.#settings.gatherMs;
    for (;;) {
      const members = await this.#whoIsThere(deadline);
      const { received, fault } = await this.#transfers.attempt(engine, source, members);
      if (fault !== undefined) throw fault;
      if (received.length > 0) return received;
      await this.#pause(deadline);
    }
  }

  /** Live members that were on time in the last update; all live members if none was. */
  async #whoIsThere(deadline: number): Promise<string[]> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure;
      const alive = this.#members.alive.map(({ member }) => member);
      const prompt = alive.filter((member) => !this.isLate(member));
      if (alive.length > 0) return prompt.length > 0 ? prompt : alive;
      await this.#pause(deadline);
    }
  }

  /** Waits for lost and new members to be noticed. Throws HONE_ERR_COLLECTIVE after the deadline. */
  async #pause(deadline: number): Promise<void> {
    const { beatMs, gatherMs } = this.#settings;
    if (performance.now() > deadline || this.#closed.signal.aborted) throw nobody(gatherMs);
    await new Promise((resolve) => setTimeout(resolve, beatMs / 4));
    await this.#members.look();
  }

  async #commit(engine: string, published: Published): Promise<void> {
    this.published.set(engine, published);
    const { version, members } = published;
    await this.say({ kind: "commit", update: this.#transfers.last, engine, version, members: [...members] });
  }

  /** True if a transfer from the trainer would delay no pending call. */
  get isIdle(): boolean {
    return this.#busy === 0;
  }

  get isPublishing(): boolean {
    return this.#publishing;
  }

  /** True if the member recently missed a deadline. */
  isLate(member: string): boolean {
    return this.#transfers.answers.isLate(member);
  }

  /** Lets actors that have a published version send it to actors that do not. */
  relay(
    engine: string,
    published: Published,
    actors: readonly Located[],
    late: readonly string[],
  ): Promise<unknown> {
    const { version, source } = published;
    // actors start to send when they read the plan
    const send = (plan: TransferPlan) => this.#transfers.answers.sent(plan);
    const from = { version, way: source.way, senders: async () => actors, send };
    this.#amongActors = this.bring(engine, published, from, late).catch(() => {});
    return this.#amongActors;
  }

  /** Brings a published version to actors that do not have it. */
  async bring(engine: string, published: Published, from: Sending, late: readonly string[]): Promise<void> {
    const attempt = await this.#transfers.attempt(engine, from, late);
    if (this.published.get(engine) !== published) return; // the engine was closed meanwhile
    const members = new Set([...published.members, ...attempt.received]);
    const now = { ...published, members, unable: new Set([...published.unable, ...attempt.unable]) };
    if (attempt.received.length > 0) await this.#commit(engine, now);
    else this.published.set(engine, now);
  }
}

function nobody(waitedMs: number): HoneError {
  return new HoneError(
    "HONE_ERR_COLLECTIVE",
    `no actor was ready to receive the weights for ${Math.round(waitedMs / 1000)} s`,
    {
      hint: "The actors' processes are alive but send no heartbeat: they are suspended, or get no processor time.",
    },
  );
}

export interface UpdateParts {
  readonly store: StreamStore;
  readonly membership: Membership;
  readonly settings: FleetSettings;
}

/** Outcome of one transfer. */
export interface Attempt {
  /** Members that have all weights. */
  readonly received: readonly string[];
  /** Senders that are lost, or whose members report that they did not receive the weights. */
  readonly unable: readonly string[];
  /** Fault that would recur with other members. */
  readonly fault?: unknown;
}

const isGood = (answer: Answer | undefined): boolean => answer !== undefined && answer.fault === undefined;

/** True if a member reports a fault. A member without an answer counts as late itself. */
const missed = ({ members }: TransferGroup, answers: ReadonlyMap<string, Answer>): boolean =>
  members.some((member) => answers.get(member)?.fault !== undefined);

/** Transfers of weights to actors, from trainers or from other actors. */
export class Transfers {
  /** Ordinal of the last transfer. */
  last = 0;
  /** Bytes of the weights that an engine reads, by engine; 0 if unknown. */
  readonly bytes = new Map<string, number>();
  readonly #rate = new UpdateRate();
  readonly answers: Answers;
  readonly #parts: UpdateParts & Pick<Updates, "say">;
  readonly #groups: TransferGroups;

  constructor(parts: UpdateParts & Pick<Updates, "say">, closed: AbortSignal) {
    this.#parts = parts;
    this.answers = new Answers(parts, closed);
    this.#groups = new TransferGroups(parts.store);
  }

  /** One transfer, after the previous one is finished: announces it, sends, and waits for the answers. */
  async attempt(engine: string, source: Sending, members: readonly string[]): Promise<Attempt> {
    const update = ++this.last;
    this.answers.expect(update);
    const { version, way } = source;
    const groups = await this.#groups.of(source, members, this.#parts.membership.alive);
    const bytes = this.bytes.get(engine) ?? 0;
    const withinMs = this.#rate.withinMs(this.#parts.settings.updateMs, bytes);
    const plan = { update, engine, version, way, withinMs, groups };
    const begun = performance.now();
    const sent = await this.#sent(plan, source);
    const written = source.sendsFirst ? performance.now() - begun : 0;
    const answers = await this.answers.of(update, members, withinMs + 4 * written);
    const received = members.filter((member) => isGood(answers.get(member)));
    if (received.length === members.length) this.#rate.measured(bytes, performance.now() - begun);
    await this.#groups.dropLost(groups, new Set(received));
    const unable = groups.filter((group) => missed(group, answers)).map(({ sender }) => sender);
    const own = [...answers.values()].find(({ fault }) => fault !== undefined && !isOfTheWay(fault.code));
    if (received.length === 0 && own !== undefined)
      return { received, unable, fault: faultOf(own.fault!, own.member) };
    if (sent !== undefined && !isOfTheWay((sent.error as HoneError).code))
      return { received, unable, fault: sent.error };
    return { received, unable }; // every member in `received` has complete weights, whatever happened in other groups
  }

  /** The sender's error, if any. */
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
    // issue both before awaiting either: one transaction then contains both
    const said = say();
    const sending = send();
    await said;
    return await sending;
  }
}

/** Collects the actors' answers to updates, and tracks late actors. */
export class Answers {
  readonly #store: StreamStore;
  readonly #membership: Membership;
  readonly #settings: FleetSettings;
  readonly #closed: AbortSignal;
  readonly #expected = new Map<number, Map<string, Answer>>();
  /** Actors that did not answer the last update, for which updates do not wait for a while. */
  readonly #late = new Map<string, { readonly times: number; readonly untilMs: number }>();
  #heard: (() => void) | undefined;

  constructor({ store, membership, settings }: UpdateParts, closed: AbortSignal) {
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

  /** Called before the update is announced. */
  expect(update: number): void {
    this.#expected.set(update, new Map());
  }

  /**
   * Resolves when every member has answered, is gone, or is too late: after `withinMs`. Time in which this process was
   * suspended does not count: answers sent meanwhile are still to be read.
   */
  async of(
    update: number,
    members: readonly string[],
    withinMs: number,
  ): Promise<ReadonlyMap<string, Answer>> {
    const answers = this.#expected.get(update)!;
    const { beatMs } = this.#settings;
    const missing = () => members.some((member) => !answers.has(member) && this.#membership.isAlive(member));
    for (let leftMs = withinMs; missing() && leftMs > 0; ) {
      const begun = performance.now();
      await this.#next();
      leftMs -= Math.min(performance.now() - begun, 2 * beatMs);
    }
    this.#expected.delete(update);
    for (const member of members) this.#note(member, answers.has(member));
    return answers;
  }

  /**
   * Resolves when the sending actors are done: each has answered or is lost, or all its receivers have. It has no
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
