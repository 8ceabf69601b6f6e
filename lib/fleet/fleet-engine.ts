import { HoneError } from "../errors.ts";
import { engineMessage } from "../native/engine-message.ts";
import type {
  EngineFace,
  EngineHandlers,
  EngineMessage,
  EngineStats,
  GenerationRequest,
} from "../native/face.ts";
import { FINISH } from "../native/face.ts";
import type { StreamStore } from "../streams/index.ts";
import { CallLog } from "./call-log.ts";
import type { Membership } from "./membership.ts";
import { type EngineSpec, encodeRequest, faultOf } from "./messages.ts";
import { type FleetSettings, STREAMS } from "./names.ts";
import { type DecodedOutcome, decodeOutcome } from "./outcomes.ts";
import type { WeightSource, WeightTaker } from "./published.ts";
import { FollowedNotes } from "./rollout-notes.ts";
import type { Updates } from "./updates.ts";

const ABORT = FINISH.indexOf("abort");

/** Dependencies of an engine of actors. */
export interface FleetParts {
  readonly store: StreamStore;
  readonly membership: Membership;
  readonly updates: Updates;
  readonly settings: FleetSettings;
}

/**
 * An engine whose requests are sampled by actors in other processes. Each request goes to one actor as a whole, waits
 * there for the version that was current when it was submitted, and is completed there or passed to another actor.
 */
export class FleetEngine implements EngineFace, WeightTaker {
  readonly name: string;
  readonly #parts: FleetParts;
  readonly #handlers: EngineHandlers;
  readonly #under = new Map<number, GenerationRequest>();
  readonly #log: CallLog;
  readonly #notes: FollowedNotes;
  readonly #numbers = new Map<number, number>();
  readonly #closed = new AbortController();
  readonly #reading: Promise<void>;
  #next = 0;
  /** Time since which no live actor has the version that requests wait for. */
  #unservedAt: number | undefined;
  readonly #leaveMembership: () => void;
  #failed = false;

  constructor(spec: EngineSpec, parts: FleetParts, handlers: EngineHandlers) {
    this.name = spec.engine;
    this.#parts = parts;
    this.#handlers = handlers;
    this.#log = new CallLog(parts.store, STREAMS.requests(spec.engine), STREAMS.outcomes(spec.engine));
    parts.updates.say({ kind: "open", ...spec }).catch((error) => this.fail(error));
    this.#notes = new FollowedNotes(parts.store, STREAMS.notes(spec.engine), this.#under);
    this.#reading = this.#read().catch((error) => this.fail(error));
    this.#leaveMembership = parts.membership.onLook(() => this.#expectServed());
  }

  /** Throws HONE_ERR_UNSUPPORTED for a plan of versions. A request that no engine can run ends in `onError`. */
  submit(request: GenerationRequest): void {
    this.#expectOpen();
    const number = this.#next++;
    const version = this.#parts.updates.published.version(this.name) ?? 0;
    const payload = encodeRequest({ number, version, request });
    this.#under.set(number, request);
    this.#numbers.set(request.id, number);
    const size = { samples: request.count, tokens: request.prompt.length };
    this.#log.append(number, payload, size).catch((error) => this.fail(error));
  }

  /** A single aborted attempt is completed anyway: stopping it would not be worth a message. */
  abort(id: number, attempt?: number): void {
    const number = this.#numbers.get(id);
    const request = number === undefined ? undefined : this.#under.get(number);
    if (number === undefined || request === undefined || attempt !== undefined) return;
    this.#forget(number, request);
    this.#parts.updates
      .say({ kind: "abort", engine: this.name, request: number })
      .catch((error) => this.fail(error));
    setImmediate(() => this.#closed.signal.aborted || this.#handlers.onMessage(aborted(request)));
  }

  takeFrom(source: WeightSource): Promise<number> {
    this.#expectOpen();
    return this.#parts.updates.publish(this.name, source);
  }

  /** Statistics of all actors together; requests in the store count as waiting. */
  stats(): EngineStats {
    const { membership, updates } = this.#parts;
    const stats = membership.stats(this.name);
    const asked = [...this.#under.values()].reduce((sum, { count }) => sum + count, 0);
    const waiting = Math.max(0, asked - stats.running);
    return { ...stats, waiting, version: updates.published.version(this.name) ?? 0 };
  }

  /** Fails all pending requests; no further outcomes arrive. */
  fail(error: Error): void {
    if (this.#failed || this.#closed.signal.aborted) return;
    this.#failed = true;
    this.#handlers.onError(error);
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#leaveMembership();
    const { updates, membership } = this.#parts;
    updates.published.delete(this.name);
    updates.bytes.delete(this.name);
    await updates.say({ kind: "close", engine: this.name }).catch(() => {}); // actors end with the store anyway
    await this.#reading;
    membership.forget(this.name);
  }

  /**
   * Fails the pending requests if no actor has had the published weights for `gatherMs`. Until then new actors may
   * take the place of lost ones, while the trainer still has the weights to send.
   */
  #expectServed(): void {
    const { updates, settings } = this.#parts;
    const waits = this.#under.size > 0 && updates.published.version(this.name) !== undefined;
    const now = performance.now();
    this.#unservedAt =
      waits && !updates.published.isServed(this.name) ? (this.#unservedAt ?? now) : undefined;
    if (this.#unservedAt === undefined || now - this.#unservedAt <= settings.gatherMs) return;
    const message = `${this.name}: no actor that has version ${updates.published.version(this.name)} was alive for ${Math.round(settings.gatherMs / 1000)} s`;
    this.fail(
      new HoneError("HONE_ERR_COLLECTIVE", message, {
        hint: "The actors with this version ended, and their successors cannot get it: the trainer has a newer one.",
      }),
    );
  }

  async #read(): Promise<void> {
    const { signal } = this.#closed;
    this.#notes.follow(this.#handlers, signal).catch((error) => this.fail(error));
    await this.#log.follow(signal, this.#receive, () => this.#notes.trim());
  }

  readonly #receive = (key: string, payload: Uint8Array): void => {
    const outcome = this.#decoded(key, payload);
    const request = outcome && this.#under.get(outcome.number);
    if (outcome === undefined || request === undefined) return; // the request was aborted meanwhile
    const { member, stats } = outcome.by;
    if (stats !== undefined) this.#parts.membership.heard(member, this.name, stats);
    this.#forget(outcome.number, request);
    if ("fault" in outcome) this.fail(faultOf(outcome.fault, member));
    else this.#handlers.onMessage("poison" in outcome ? aborted(request) : named(outcome.message, request));
  };

  /** Decodes an outcome; undefined for a damaged message, whose request is then sent again. */
  #decoded(key: string, payload: Uint8Array): DecodedOutcome | undefined {
    try {
      return decodeOutcome(payload);
    } catch {
      const request = this.#under.get(Number(key));
      if (request === undefined) return undefined;
      this.#forget(Number(key), request);
      this.submit(request);
      return undefined;
    }
  }

  #forget(number: number, { id }: GenerationRequest): void {
    this.#under.delete(number);
    this.#log.end(number);
    if (this.#numbers.get(id) === number) this.#numbers.delete(id);
  }

  #expectOpen(): void {
    if (this.#closed.signal.aborted) throw new HoneError("HONE_ERR_STATE", `${this.name} is closed`);
  }
}

function named(message: EngineMessage, { id }: GenerationRequest): EngineMessage {
  message.request.fill(id);
  message.endedRequest.fill(id);
  return message;
}

/** Message for a request whose attempts the engine dropped. */
function aborted({ id, count }: GenerationRequest): EngineMessage {
  const message = engineMessage(0, count);
  message.endedRequest.fill(id);
  message.endedAttempt.set(Int32Array.from({ length: count }, (_, i) => i));
  message.endedFinish.fill(ABORT);
  return message;
}
