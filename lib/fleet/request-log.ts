import { type EntrySize, type Offset, StreamError, type StreamStore } from "../streams/index.ts";
import { type Follower, follow } from "./follow.ts";

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
