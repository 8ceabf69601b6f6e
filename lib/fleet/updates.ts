import { HoneError } from "../errors.ts";
import type { StreamStore } from "../streams/index.ts";
import type { MemberStatus, Membership } from "./membership.ts";
import type { Control } from "./messages.ts";
import type { FleetSettings } from "./names.ts";
import { type Located, type Sending, Transfers } from "./transfers.ts";

/** Source of the weights to send. */
export interface WeightSource extends Sending {
  /** Another number whenever its weights are others, whatever their version. */
  readonly state: number;
}

/** Version that actors may sample with on one engine, and its source. */
interface Published {
  readonly version: number;
  readonly source: WeightSource;
  readonly state: number;
  /** Actors that have it. */
  readonly members: ReadonlySet<string>;
  /** Members from which another member failed to receive: they are not asked again. */
  readonly unable: ReadonlySet<string>;
}

/** Actors that can give on what they have. */
const ableAmong = (alive: readonly MemberStatus[], { members, unable }: Published): Located[] =>
  alive
    .filter(({ member }) => members.has(member) && !unable.has(member))
    .map(({ member, host }) => ({ name: member, host }));

/**
 * Brings weights to the actors in two phases: all receive them, then those that have them complete may use them. An
 * actor that does not answer in time is left out and samples nothing new until it has caught up. One update at a time.
 */
export class Updates {
  /** Told of each version that actors may use, in the order of publications: tests let a fault meet its step by it. */
  onPublished: (version: number) => void = () => {};
  /** Error for callers that wait for an actor, when no actor will come. */
  failure: Error | undefined;
  readonly #members: Membership;
  readonly #settings: FleetSettings;
  readonly #published = new Map<string, Published>();
  readonly #transfers: Transfers;
  readonly #closed = new AbortController();
  #turn: Promise<unknown> = Promise.resolve();
  #busy = 0;
  #catchingUp: Promise<void> | undefined;
  /** A transfer from actors to actors: the trainer's own waits for its end. */
  #amongActors: Promise<unknown> = Promise.resolve();
  #publishing = false;

  constructor(store: StreamStore, membership: Membership, settings: FleetSettings) {
    this.#members = membership;
    this.#settings = settings;
    const say = (control: Control) => this.say(control);
    this.#transfers = new Transfers({ store, membership, settings, say, closed: this.#closed.signal });
    membership.onLook(() => {
      this.#catchingUp ??= this.#catchUp().finally(() => {
        this.#catchingUp = undefined;
      });
    });
  }

  /** Hears the actors' answers until `close`. Rejects with what the store says. */
  listen(): Promise<void> {
    return this.#transfers.listen();
  }

  /** Says something to all actors, after what was said before. */
  say(control: Control): Promise<void> {
    return this.#transfers.tell(control);
  }

  /** Runs work during which no actor catches up from the trainer, since its weights may change. */
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
    return this.#members.alive.map(({ member }) => member).filter((member) => members?.has(member) === false);
  }

  /** True if the live member may sample on this engine. */
  isServed(engine: string): boolean {
    const members = this.#published.get(engine)?.members ?? [];
    return [...members].some((member) => this.#members.isAlive(member));
  }

  /** To all that are alive, within `exclusive`. Waits for the first; throws HONE_ERR_COLLECTIVE if none is there in time, or `failure`. */
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

  forget(engine: string): void {
    this.#published.delete(engine);
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

  /** Live members that were not late last time; if there are none, all live members. */
  async #whoIsThere(deadline: number): Promise<string[]> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure;
      const alive = this.#members.alive.map(({ member }) => member);
      const prompt = alive.filter((member) => !this.#transfers.isLate(member));
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
    this.#published.set(engine, published);
    const { version, members } = published;
    await this.say({ kind: "commit", update: this.#transfers.last, engine, version, members: [...members] });
  }

  /**
   * Sends the current weights to lagging members: from actors that have them, whatever the trainer does meanwhile; if
   * there are none, from the trainer while it is idle. Absent members stay behind until the next poll.
   */
  async #catchUp(): Promise<void> {
    for (const [engine, published] of this.#published) {
      const late = this.lagging(engine).filter((member) => !this.#transfers.isLate(member));
      if (late.length === 0 || this.#publishing) continue;
      const { source, state } = published;
      const able = ableAmong(this.#members.alive, published);
      const actors = this.#transfers.fromActors({ version: published.version, way: source.way }, able);
      if (actors !== undefined) {
        this.#amongActors = this.#bring(engine, published, actors, late).catch(() => {});
        await this.#amongActors;
      } else if (this.#busy === 0 && source.state === state)
        await this.exclusive(() => this.#bring(engine, published, source, late)).catch(() => {});
    }
  }

  async #bring(engine: string, published: Published, from: Sending, late: readonly string[]): Promise<void> {
    const attempt = await this.#transfers.attempt(engine, from, late);
    if (this.#published.get(engine) !== published) return; // it was closed meanwhile
    const members = new Set([...published.members, ...attempt.received]);
    const now = { ...published, members, unable: new Set([...published.unable, ...attempt.unable]) };
    if (attempt.received.length > 0) await this.#commit(engine, now);
    else this.#published.set(engine, now);
  }
}

function nobody(waitedMs: number): HoneError {
  return new HoneError(
    "HONE_ERR_COLLECTIVE",
    `no actor was there to take the weights for ${Math.round(waitedMs / 1000)} s`,
    { hint: "They run and say nothing: stopped, or kept from a processor for as long." },
  );
}
