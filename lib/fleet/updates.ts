import { randomUUID } from "node:crypto";
import { HoneError } from "../errors.ts";
import type { StreamStore } from "../streams/index.ts";
import { faultOf, isOfTheWay } from "./fault-text.ts";
import { type Answer, type Control, decodeAnswer, encodeControl, type TransferPlan } from "./messages.ts";
import { type FleetSettings, STREAMS } from "./names.ts";
import type { Roster } from "./roster.ts";
import { type Senders, TransferGroups } from "./transfer-groups.ts";

/** Whoever holds the weights that go out. */
export interface WeightSource extends Senders {
  readonly version: number;
  /** Another number whenever its weights are others, whatever their version. */
  readonly state: number;
  /** Sends them to the members of the plan. Rejects where one of them is not there in time. */
  send(plan: TransferPlan): Promise<void>;
}

/** What actors may sample with on one engine, and from whom it came. */
interface Published {
  readonly version: number;
  readonly source: WeightSource;
  readonly state: number;
  /** Actors that have it. */
  readonly members: Set<string>;
}

/** Answers that stay in the store behind what was read, so that one trim serves many. */
const TRIM_EVERY = 64;

/** What actors answer to updates, and who does not. */
class Answers {
  readonly #store: StreamStore;
  readonly #roster: Roster;
  readonly #settings: FleetSettings;
  readonly #expected = new Map<number, Map<string, Answer>>();
  /** Who was silent last: for a while the others do not wait for them. */
  readonly #late = new Map<string, { readonly times: number; readonly untilMs: number }>();
  #heard: (() => void) | undefined;

  constructor(store: StreamStore, roster: Roster, settings: FleetSettings) {
    this.#store = store;
    this.#roster = roster;
    this.#settings = settings;
  }

  async listen(signal: AbortSignal): Promise<void> {
    for (let after = 0, trimmed = 0; !signal.aborted; ) {
      const entries = await this.#store.read(STREAMS.answers, after, { max: 64, waitMs: 60_000, signal });
      for (const { offset, payload } of entries) {
        const answer = decodeAnswer(payload);
        this.#expected.get(answer.update)?.set(answer.member, answer);
        after = offset;
      }
      this.#heard?.();
      if (after - trimmed < TRIM_EVERY) continue;
      await this.#store.trim(STREAMS.answers, after);
      trimmed = after;
    }
  }

  /** Before the update is announced. */
  expect(update: number): void {
    this.#expected.set(update, new Map());
  }

  /** When all have answered, or those who have not are gone or too late. */
  async of(update: number, members: readonly string[]): Promise<ReadonlyMap<string, Answer>> {
    const answers = this.#expected.get(update)!;
    const deadline = performance.now() + this.#settings.updateMs;
    const missing = () => members.some((member) => !answers.has(member) && this.#roster.isAlive(member));
    while (missing() && performance.now() < deadline) await this.#next();
    this.#expected.delete(update);
    for (const member of members) this.#note(member, answers.has(member));
    return answers;
  }

  isLate(member: string): boolean {
    return performance.now() < (this.#late.get(member)?.untilMs ?? 0);
  }

  /** Until one more answer, or another look at who is alive. */
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

const isGood = (answer: Answer | undefined): boolean => answer !== undefined && answer.fault === undefined;

/**
 * Brings weights to the actors in two phases: everybody gets them, then those who have them whole may use them. An actor
 * that does not answer in time is left out; it samples nothing new until it has caught up. One update at a time.
 */
export class Updates {
  /** Told of each version that actors may use, in the order of publications. */
  onPublished: (version: number) => void = () => {};
  readonly #store: StreamStore;
  readonly #roster: Roster;
  readonly #settings: FleetSettings;
  readonly #published = new Map<string, Published>();
  readonly #answers: Answers;
  readonly #closed = new AbortController();
  #update = 0;
  readonly #groups: TransferGroups;
  #turn: Promise<unknown> = Promise.resolve();
  #busy = 0;
  #said: Promise<unknown> = Promise.resolve();

  constructor(store: StreamStore, roster: Roster, settings: FleetSettings) {
    this.#store = store;
    this.#roster = roster;
    this.#settings = settings;
    this.#answers = new Answers(store, roster, settings);
    this.#groups = new TransferGroups(store);
    roster.onLook(() => void this.#catchUp().catch(() => {})); // who is not there at the next look lags on
  }

  /** Hears the actors' answers until `close`. Rejects with what the store says. */
  listen(): Promise<void> {
    return this.#answers.listen(this.#closed.signal);
  }

  /** Says something to all actors, after what was said before. */
  say(control: Control): Promise<void> {
    const said = this.#said.then(async () => {
      await this.#store.append(STREAMS.control, randomUUID(), encodeControl(control));
    });
    this.#said = said.catch(() => {});
    return said;
  }

  /** Work during which nobody catches up: the trainer's weights may change. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    const done = this.#turn.then(work).finally(() => (this.#busy -= 1));
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Version that requests have to wait for; undefined before the first. */
  version(engine: string): number | undefined {
    return this.#published.get(engine)?.version;
  }

  /** Actors that do not have what is current. */
  lagging(engine: string): string[] {
    const members = this.#published.get(engine)?.members;
    return this.#roster.living.map(({ member }) => member).filter((member) => members?.has(member) === false);
  }

  /** Whether one that is alive may sample on this engine. */
  isServed(engine: string): boolean {
    const members = this.#published.get(engine)?.members ?? [];
    return [...members].some((member) => this.#roster.isAlive(member));
  }

  /** To all that are alive, within `exclusive`. Waits for the first; throws HONE_ERR_COLLECTIVE if none is there in time. */
  async publish(engine: string, source: WeightSource): Promise<number> {
    const { version, state } = source;
    const deadline = performance.now() + this.#settings.gatherMs;
    for (;;) {
      const members = await this.#whoIsThere(deadline);
      const received = await this.#attempt(engine, source, members);
      if (received.length === 0) {
        await this.#pause(deadline);
        continue;
      }
      await this.#commit(engine, { version, source, state, members: new Set(received) });
      this.onPublished(version);
      return version;
    }
  }

  forget(engine: string): void {
    this.#published.delete(engine);
  }

  close = (): void => this.#closed.abort();

  /** Who is alive and was not late last, or, where there is nobody else, who was. */
  async #whoIsThere(deadline: number): Promise<string[]> {
    for (;;) {
      const living = this.#roster.living.map(({ member }) => member);
      const prompt = living.filter((member) => !this.#answers.isLate(member));
      if (prompt.length > 0) return prompt;
      if (living.length > 0) return living;
      await this.#pause(deadline);
    }
  }

  /** Gives whoever is gone or new the time to be seen. Throws HONE_ERR_COLLECTIVE after the deadline. */
  async #pause(deadline: number): Promise<void> {
    const { beatMs, gatherMs } = this.#settings;
    if (performance.now() > deadline || this.#closed.signal.aborted) throw nobody(gatherMs);
    await new Promise((resolve) => setTimeout(resolve, beatMs / 4));
    await this.#roster.look();
  }

  /** One transfer; returns who has the weights whole. */
  async #attempt(engine: string, source: WeightSource, members: readonly string[]): Promise<string[]> {
    const update = ++this.#update;
    this.#answers.expect(update);
    const { version, way } = source;
    const groups = await this.#groups.of(source, members, this.#roster.living);
    const plan = { update, engine, version, way, groups };
    // both are said before either is waited for: one transaction has them
    const said = this.say({ kind: "update", ...plan });
    const sending = source.send(plan).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    await said;
    const sent = await sending;
    const answers = await this.#answers.of(update, members);
    const received = members.filter((member) => isGood(answers.get(member)));
    await this.#groups.dropLost(groups, new Set(received));
    const own = [...answers.values()].find(({ fault }) => fault !== undefined && !isOfTheWay(fault.code));
    if (received.length === 0 && own !== undefined) throw faultOf(own.fault!, own.member);
    if (sent !== undefined && !isOfTheWay((sent.error as HoneError).code)) throw sent.error;
    return received; // each has them whole, whatever became of others
  }

  async #commit(engine: string, published: Published): Promise<void> {
    this.#published.set(engine, published);
    const { version, members } = published;
    await this.say({ kind: "commit", update: this.#update, engine, version, members: [...members] });
  }

  /** Sends what is current to those who lag, while nobody changes it. */
  async #catchUp(): Promise<void> {
    if (this.#busy > 0) return;
    for (const [engine, { version, source, state, members }] of this.#published) {
      const late = this.lagging(engine).filter((member) => !this.#answers.isLate(member));
      if (late.length === 0 || source.state !== state) continue;
      await this.exclusive(async () => {
        const received = await this.#attempt(engine, source, late);
        const all = new Set([...members, ...received]);
        if (received.length > 0) await this.#commit(engine, { version, source, state, members: all });
      });
    }
  }
}

function nobody(waitedMs: number): HoneError {
  return new HoneError(
    "HONE_ERR_COLLECTIVE",
    `no actor was there to take the weights for ${Math.round(waitedMs / 1000)} s`,
    { hint: "They run and say nothing: stopped, or kept from a processor for as long." },
  );
}
