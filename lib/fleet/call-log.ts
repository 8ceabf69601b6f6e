import { type EntrySize, type Offset, StreamError, type StreamStore } from "../streams/index.ts";
import { STREAMS } from "./names.ts";

/** The log of calls that the trainer's ranks of one epoch read, in the order in which they were said. */
export class CallLog {
  readonly #store: StreamStore;
  readonly #onFailure: (error: Error) => void;
  readonly #offsets = new Map<number, Offset>();
  #epoch = 0;
  #said: Promise<unknown> = Promise.resolve();

  constructor(store: StreamStore, onFailure: (error: Error) => void) {
    this.#store = store;
    this.#onFailure = onFailure;
  }

  /** Epoch of the ranks that read the log; 0 before the first. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Starts the log of a new epoch. Ranks of earlier epochs no longer read. */
  begin(epoch: number): void {
    const before = this.#epoch;
    this.#epoch = epoch;
    if (before === 0) return;
    this.#then(async () => {
      await this.#store.trim(STREAMS.commands(before), Math.max(0, ...this.#offsets.values()) + 1);
      this.#offsets.clear();
    });
  }

  say(number: number, bytes: Uint8Array): void {
    const stream = STREAMS.commands(this.#epoch);
    this.#then(
      async () => void this.#offsets.set(number, await this.#store.append(stream, String(number), bytes)),
    );
  }

  /** Drops what was said before a call that all ranks made together: none has to read it. */
  async forget(number: number): Promise<void> {
    const at = this.#offsets.get(number);
    if (at === undefined) return;
    for (const [each, offset] of this.#offsets) if (offset < at) this.#offsets.delete(each);
    await this.#store.trim(STREAMS.commands(this.#epoch), at);
  }

  #then(work: () => Promise<void>): void {
    this.#said = this.#said.then(work).catch(this.#onFailure);
  }
}

/** Entries of one look: outcomes of long rollouts are megabytes. */
const MOST = 16;
/** Entries that stay in the store behind what was read, so that one trim serves many. */
const TRIM_EVERY = 64;

export interface Follower {
  readonly receive: (key: string, payload: Uint8Array) => void;
  /** Beside dropping what was read. */
  readonly onTrim?: () => Promise<unknown>;
}

/** Hands over all that comes to a stream that has one reader, and drops it, until `signal` aborts. Rejects with what the store says. */
export async function follow(
  store: StreamStore,
  stream: string,
  signal: AbortSignal,
  { receive, onTrim }: Follower,
): Promise<void> {
  for (let after = 0, trimmed = 0; !signal.aborted; ) {
    const entries = await store
      .read(stream, after, { max: MOST, waitMs: 60_000, signal })
      .catch((error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      });
    for (const { key, payload, offset } of entries) {
      receive(key, payload);
      after = offset;
    }
    if (after - trimmed < TRIM_EVERY) continue;
    trimmed = after;
    await Promise.all([store.trim(stream, after), onTrim?.()]);
  }
}

/** Requests and their outcomes, verifier jobs and their ends. Finished entries leave the store. */
export class RequestLog {
  readonly #store: StreamStore;
  readonly #stream: string;
  readonly #answers: string;
  /** Offsets of pending entries, once they are appended. */
  readonly #offsets = new Map<number, Offset>();
  readonly #ended = new Set<number>();
  #last: Offset = 0;

  constructor(store: StreamStore, stream: string, answers: string) {
    this.#store = store;
    this.#stream = stream;
    this.#answers = answers;
  }

  async append(number: number, payload: Uint8Array, size: EntrySize): Promise<void> {
    const offset = await this.#store.append(this.#stream, String(number), payload, size);
    this.#last = Math.max(this.#last, offset);
    if (!this.#ended.delete(number)) this.#offsets.set(number, offset);
  }

  /** Removes a request that was answered or is no longer awaited. */
  end(number: number): void {
    if (!this.#offsets.delete(number)) this.#ended.add(number);
  }

  /** Hands over every answer, until `signal` aborts. @param onTrim after answers were dropped, with requests that are over */
  follow(signal: AbortSignal, receive: Follower["receive"], onTrim?: () => Promise<void>): Promise<void> {
    const trim = () => Promise.all([this.trim(), onTrim?.()]);
    return follow(this.#store, this.#answers, signal, { receive, onTrim: trim });
  }

  /** Drops those before the oldest under way. One that was aborted may still be an actor's: the next time, then. */
  async trim(): Promise<void> {
    const oldest = Math.min(this.#last + 1, ...this.#offsets.values());
    await this.#store.trim(this.#stream, oldest).catch((error: unknown) => {
      if (!(error instanceof StreamError) || error.why !== "held") throw error;
    });
  }
}
