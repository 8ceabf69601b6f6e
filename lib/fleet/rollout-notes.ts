import { type AttemptTokens, joinedTokens, type RecordHandler } from "../native/attempt-tokens.ts";
import type { GenerationRequest } from "../native/face.ts";
import { type Entry, type Lease, type Offset, StreamError, type StreamStore } from "../streams/index.ts";
import { decodeNote, encodeNote, type NumberedRequest } from "./messages.ts";

/** Most entries per read. */
const MOST = 64;

/** A request that an actor is sampling. */
export interface NotedRequest {
  /** The most recent lease. */
  readonly lease: Lease;
  readonly asked: Pick<NumberedRequest, "number">;
  /** Tokens that are not in a note yet. */
  readonly unwritten: AttemptTokens[];
}

/** Records an actor's tokens of requests in progress, under the requests' leases. */
export class RolloutNotes {
  readonly #store: StreamStore;
  readonly #stream: string;
  /** Offsets of a request's notes that were read so far. */
  readonly #places = new Map<number, Offset[]>();
  #cursor: Offset = 0;
  #written = 0;
  /** Last write of each request. */
  readonly #writing = new Map<number, Promise<void>>();

  constructor(store: StreamStore, stream: string) {
    this.#store = store;
    this.#stream = stream;
  }

  /**
   * Writes notes in order. Writes none if the lease is lost or finished; the next note then includes those tokens, in
   * case the same holder leases the request again.
   */
  write(held: NotedRequest, tokens: readonly AttemptTokens[]): Promise<void> {
    held.unwritten.push(...tokens);
    const { number } = held.asked;
    const written = (this.#writing.get(number) ?? Promise.resolve())
      .then(() => this.#write(held))
      .finally(() => this.#writing.get(number) === written && this.#writing.delete(number));
    this.#writing.set(number, written);
    return written;
  }

  async #write({ lease, asked: { number }, unwritten }: NotedRequest): Promise<void> {
    const tokens = unwritten.splice(0);
    if (tokens.length === 0) return;
    const key = `${number}/${lease.token}/${this.#written++}`;
    const size = { samples: 0, tokens: tokens.reduce((sum, each) => sum + each.tokens.length, 0) };
    try {
      await this.#store.note(lease, this.#stream, key, encodeNote({ number, tokens }), size);
    } catch (error) {
      if (!(error instanceof StreamError) || error.why !== "lease-lost") throw error;
      unwritten.unshift(...tokens);
    }
  }

  /** Returns the request with all notes of previous lease holders, which can no longer add any. */
  async resumed(lease: Lease, asked: NumberedRequest): Promise<NumberedRequest> {
    const { number, request } = asked;
    if (!lease.isAgain || request.recordEveryTokens === undefined) return asked;
    await this.#look();
    let begun = request.begun ?? [];
    for (const place of this.#places.get(number) ?? []) {
      const note = await this.#at(place);
      if (note !== undefined) begun = joinedTokens(begun, note.tokens);
    }
    return begun.length === 0 ? asked : { ...asked, request: { ...request, begun } };
  }

  /** Reads an entry; undefined if it was trimmed: its request is no longer awaited. */
  async #at(place: Offset) {
    const entries = this.#store.read(this.#stream, place - 1, { max: 1, waitMs: 0 });
    const [entry] = await entries.catch((error: unknown) => {
      if (error instanceof StreamError && error.why === "trimmed") return [];
      throw error;
    });
    return entry && readable(entry);
  }

  /** Reads the notes that were written since the last poll, with their positions in the stream. */
  async #look(): Promise<void> {
    for (;;) {
      const entries = await this.#next();
      for (const entry of entries) {
        this.#cursor = entry.offset;
        const number = Number(entry.key.split("/")[0]);
        const places = this.#places.get(number);
        if (places === undefined) this.#places.set(number, [entry.offset]);
        else places.push(entry.offset);
      }
      if (entries.length < MOST) return;
    }
  }

  /** Reads the next notes; entries trimmed meanwhile belong to finished requests. */
  async #next(): Promise<readonly Entry[]> {
    for (;;) {
      try {
        return await this.#store.read(this.#stream, this.#cursor, { max: MOST, waitMs: 0 });
      } catch (error) {
        if (!(error instanceof StreamError) || error.why !== "trimmed") throw error;
        this.#cursor = Number(error.details?.["found"]);
        for (const [number, [last]] of [...this.#places].map(([n, all]) => [n, [all.at(-1)!]] as const))
          if (last <= this.#cursor) this.#places.delete(number);
      }
    }
  }
}

/** The coordinator's side: passes on every note, and trims the notes of finished requests from the store. */
export class FollowedNotes {
  readonly #store: StreamStore;
  readonly #stream: string;
  readonly #under: ReadonlyMap<number, GenerationRequest>;
  /** Position of the first note of each pending request. */
  readonly #first = new Map<number, Offset>();
  #cursor: Offset = 0;

  /** @param under the requests under way, by number */
  constructor(store: StreamStore, stream: string, under: ReadonlyMap<number, GenerationRequest>) {
    this.#store = store;
    this.#stream = stream;
    this.#under = under;
  }

  /** Runs until `signal` aborts. */
  async follow({ onRecord }: RecordHandler, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const options = { max: MOST, waitMs: 60_000, signal };
      for (const entry of await this.#store.read(this.#stream, this.#cursor, options)) {
        this.#cursor = entry.offset;
        const note = readable(entry);
        const request = note && this.#under.get(note.number);
        if (note === undefined || request === undefined) continue;
        onRecord?.(request.id, note.tokens);
        if (!this.#first.has(note.number)) this.#first.set(note.number, entry.offset);
      }
      await this.trim();
    }
  }

  /** Trims notes before the first one of a pending request. */
  async trim(): Promise<void> {
    if (this.#cursor === 0) return;
    for (const number of this.#first.keys()) if (!this.#under.has(number)) this.#first.delete(number);
    await this.#store.trim(this.#stream, Math.min(this.#cursor + 1, ...this.#first.values()));
  }
}

/** Decodes a note. A damaged one counts as missing, as do those after it: fewer tokens are resumed. */
function readable({ payload }: Entry) {
  try {
    return decodeNote(payload);
  } catch {
    return undefined;
  }
}
