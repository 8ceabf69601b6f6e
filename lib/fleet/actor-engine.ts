import type { AttemptTokens } from "../native/attempt-tokens.ts";
import type { EngineFace, EngineStats } from "../native/face.ts";
import { type Completion, Generations } from "../native/generations.ts";
import type { Core } from "../orchestration/index.ts";
import { Wake } from "../shared/async/deferred.ts";
import type { Lease, StreamStore } from "../streams/index.ts";
import { LeasedWork, MOST_DELIVERIES } from "./call-log.ts";
import { decodeRequest, type EngineSpec, faultText, type NumberedRequest } from "./messages.ts";
import { ACTORS, type FleetSettings, STREAMS } from "./names.ts";
import {
  type Answered,
  encodeOutcome,
  type Outcome,
  OutcomeBatcher,
  type SettledOutcome,
} from "./outcomes.ts";
import { type NotedRequest, RolloutNotes } from "./rollout-notes.ts";

/** Number of leases over which an actor spreads its share of the free attempts. */
const PORTIONS = 4;

export interface ActorEngineParts {
  readonly store: StreamStore;
  readonly core: Pick<Core, "engine">;
  readonly settings: FleetSettings;
  /** Name of the actor that owns the engine. */
  readonly member: string;
  /** Called when the engine or the store fails; the actor then ends. */
  readonly onFailure: (error: unknown) => void;
  /** Throws if this process was declared dead. */
  readonly expectAlive: () => void;
}

interface Held extends NotedRequest {
  /** The most recent lease: it may have expired and been granted again. */
  lease: Lease;
  readonly asked: NumberedRequest;
  /** Id of the engine's request. A request number that returns to this actor becomes a new engine request. */
  readonly id: number;
  readonly done: Completion[];
}

/** The store's side of an actor's engine: requests, their progress notes, and their outcomes. */
class RequestLeases extends LeasedWork {
  readonly outcomes = new OutcomeBatcher((all) => this.#send(all));
  readonly #notes: RolloutNotes;
  readonly #parts: Pick<ActorEngineParts, "member" | "onFailure">;
  readonly #stats: () => EngineStats;
  /** Number of actors that lease from the engine's stream. */
  sharers = 1;
  /** Number of attempts in the last request, which is assumed for later requests too. */
  #attempts = Number.POSITIVE_INFINITY;
  /** Pending writes of outcomes that the store does not have yet. */
  readonly #handing = new Set<Promise<void>>();

  constructor(engine: string, parts: ActorEngineParts, stats: () => EngineStats) {
    const { store, settings, expectAlive } = parts;
    const [asked, done] = [STREAMS.requests(engine), STREAMS.outcomes(engine)];
    super({ store, settings, asked, group: ACTORS, done, expectAlive });
    this.#notes = new RolloutNotes(store, STREAMS.notes(engine));
    this.#parts = parts;
    this.#stats = stats;
  }

  /**
   * Leases requests for `room` attempts, at least one request. If other actors lease too, takes only a share, so that
   * all actors finish together. Empty if `interrupt` ended the wait.
   */
  async requests(
    room: number,
  ): Promise<readonly { readonly lease: Lease; readonly asked: NumberedRequest }[]> {
    const parts = this.sharers > 1 ? PORTIONS * this.sharers : 1;
    const max = Math.max(1, Math.floor(room / (this.#attempts * parts)));
    const read: { lease: Lease; asked: NumberedRequest }[] = [];
    for (const lease of await this.next(max)) {
      const asked = decoded(lease);
      this.#attempts = asked?.request.count ?? this.#attempts;
      if (asked === undefined) await this.end(lease, { dead: "it cannot be read" });
      else read.push({ lease, asked: await this.#notes.resumed(lease, asked) });
    }
    return read;
  }

  /** Records the tokens sampled so far, for the next actor that leases the request. */
  note(held: Held, tokens: readonly AttemptTokens[]): void {
    this.#notes.write(held, tokens).catch(this.#parts.onFailure);
  }

  /** Renews all leases and returns those that another actor holds. */
  async renewAll(all: ReadonlyMap<number, Held>): Promise<readonly (readonly [number, Lease])[]> {
    const renewed = [...all].map(async ([number, { lease }]) =>
      (await this.renew(lease)) ? [] : [[number, lease] as const],
    );
    return (await Promise.all(renewed)).flat();
  }

  /** Releases the lease; the tokens so far are recorded first, for the next actor. */
  async giveBack(held: Held): Promise<void> {
    await this.#notes.write(held, []); // written after the notes in progress
    await this.end(held.lease, "retry");
  }

  /** Resolves when the store has every outcome. */
  async close(): Promise<void> {
    this.outcomes.flush();
    await Promise.all(this.#handing);
  }

  /** Sends outcomes; the last one carries the engine's statistics. */
  #send(outcomes: readonly SettledOutcome[]): void {
    const { member, onFailure } = this.#parts;
    for (const [i, { lease, number, answer }] of outcomes.entries()) {
      const by = i < outcomes.length - 1 ? { member } : { member, stats: this.#stats() };
      const handed = this.#handOutcome(lease, { number, by, ...answer }).catch(onFailure);
      this.#handing.add(handed);
      void handed.then(() => this.#handing.delete(handed));
    }
  }

  #handOutcome(lease: Lease, outcome: Outcome): Promise<void> {
    const completions = "completions" in outcome ? outcome.completions : [];
    const tokens = completions.reduce((sum, each) => sum + each.tokens.length, 0);
    return this.hand(lease, encodeOutcome(outcome), { samples: completions.length, tokens });
  }
}

function decoded({ payload }: Lease): NumberedRequest | undefined {
  try {
    return decodeRequest(payload);
  } catch {
    return undefined;
  }
}

/** Weights that an engine samples with: their version, and whether they are current. */
export interface EngineWeights {
  /** Weight version with which the engine samples; undefined before the first. */
  readonly version: number | undefined;
  /** True if these are the weights that actors may sample with, and no update is in progress. */
  readonly areCurrent: boolean;
  /** True if the engine samples with this version or a later one. */
  has(version: number): boolean;
}

/**
 * One engine of an actor: leases requests while it has capacity and the current weights, samples them, and sends each
 * outcome together with the end of its lease. If it crashes, another actor leases its requests.
 */
export class ActorEngine {
  readonly spec: EngineSpec;
  readonly #parts: ActorEngineParts;
  readonly #generations: Generations;
  /** Requests by number: being sampled, or waiting for their version. */
  readonly #held = new Map<number, Held>();
  readonly #early = new Set<number>();
  readonly #aborted = new Set<number>();
  readonly #closed = new AbortController();
  readonly #renewal: NodeJS.Timeout;
  readonly #leases: RequestLeases;
  readonly #weights: EngineWeights;
  readonly #working: Promise<void>;
  readonly #wake = new Wake();
  #nextId = 0;

  constructor(spec: EngineSpec, parts: ActorEngineParts, weights: EngineWeights) {
    const { core, settings, onFailure } = parts;
    this.spec = spec;
    this.#weights = weights;
    this.#parts = parts;
    this.#leases = new RequestLeases(spec.engine, parts, () => this.stats());
    this.#generations = new Generations((handlers) =>
      core.engine(spec.config, spec.options, { ...handlers, onError: onFailure }),
    );
    this.#renewal = setInterval(() => void this.#renew().catch(onFailure), settings.leaseMs / 3).unref();
    this.#working = this.#work().catch((error) => void (this.#closed.signal.aborted || onFailure(error)));
  }

  /** `version` is the last committed version, even if the engine has not taken over its weights yet. */
  stats(): EngineStats {
    return { ...this.#generations.stats(), version: this.#weights.version ?? 0 };
  }

  get face(): EngineFace {
    return this.#generations.engine;
  }

  /** Stops leasing requests while an update is in progress. */
  pause(): void {
    this.#leases.interrupt();
  }

  /** Resumes with a newly committed version. @param mine true if this actor is among the `sharers` that have it */
  async resume(mine: boolean, sharers: number): Promise<void> {
    this.#leases.sharers = sharers;
    if (!mine) {
      // other actors may already have the weights that these requests wait for
      await Promise.all([...this.#early].map((each) => this.#leases.end(this.#drop(each), "retry")));
      return;
    }
    for (const number of [...this.#early]) this.#begin(number);
    this.#wake.ring();
  }

  /** Drops a request, now or when it arrives. */
  async abort(number: number): Promise<void> {
    if (this.#held.has(number)) await this.#leases.end(this.#drop(number), "done");
    else this.#aborted.add(number);
  }

  /** Returns held requests with their tokens so far, so that other actors need not wait for the leases to expire. */
  async close(): Promise<void> {
    this.#closed.abort();
    clearInterval(this.#renewal);
    this.#wake.ring();
    this.#leases.interrupt();
    await this.#working; // after this, all leased requests are in #held
    const given = [...this.#held].map(([number, held]) => {
      if (!this.#early.has(number)) this.#generations.record(held.id);
      this.#drop(number);
      return this.#leases.giveBack(held);
    });
    // requests go back with the tokens sampled meanwhile; if the store refuses, the leases expire
    await Promise.allSettled([this.#leases.close(), ...given]);
    await this.#generations.close();
  }

  async #work(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      if (this.#room <= 0) await this.#wake.next;
      else for (const each of await this.#leases.requests(this.#room)) await this.#accept(each);
    }
  }

  get #room(): number {
    return this.#weights.areCurrent ? this.spec.options.maxRunning - this.#generations.inFlight : 0;
  }

  async #accept({ lease, asked }: Pick<Held, "lease" | "asked">): Promise<void> {
    const { number, version } = asked;
    const isHere = this.#weights.has(version);
    if (!isHere && !this.#weights.areCurrent) return this.#leases.end(lease, "retry");
    if (this.#aborted.delete(number)) return this.#leases.end(lease, "done");
    const held = this.#held.get(number);
    if (held !== undefined) {
      held.lease = lease;
      return;
    }
    this.#held.set(number, { lease, asked, id: this.#nextId++, done: [], unwritten: [] });
    if (lease.deliveries > MOST_DELIVERIES) return this.#hand(number, { poison: true });
    this.#early.add(number);
    if (isHere) this.#begin(number);
  }

  /** Begins to sample a request whose weight version is present. */
  #begin(number: number): void {
    const held = this.#held.get(number)!;
    if (!this.#weights.has(held.asked.version)) return;
    this.#early.delete(number);
    const request = { ...held.asked.request, id: held.id };
    try {
      this.#generations.submit(request, {
        deliver: (completions) => this.#delivered(number, held, completions),
        record: (_, tokens) => this.#leases.note(held, tokens),
        fail: this.#parts.onFailure,
      });
    } catch (error) {
      this.#hand(number, { fault: faultText(error) });
    }
  }

  #delivered(number: number, held: Held, completions: readonly Completion[]): void {
    held.done.push(...completions);
    const isWhole = held.done.length === held.asked.request.count;
    if (isWhole && this.#held.get(number) === held) this.#hand(number, { completions: held.done });
    this.#wake.ring();
  }

  #hand(number: number, answer: Answered): void {
    const { lease } = this.#held.get(number)!;
    this.#held.delete(number);
    this.#early.delete(number);
    this.#leases.outcomes.add({ lease, number, answer }, this.#held.size === 0);
  }

  async #renew(): Promise<void> {
    const lost = await this.#leases.renewAll(this.#held);
    for (const [number, lease] of lost) if (this.#held.get(number)?.lease === lease) this.#drop(number);
  }

  #drop(number: number): Lease {
    const { id, lease } = this.#held.get(number)!;
    this.#held.delete(number);
    if (!this.#early.delete(number)) this.#generations.engine.abort(id);
    this.#wake.ring();
    return lease;
  }
}
