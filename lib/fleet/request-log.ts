import { type EntrySize, type Offset, StreamError, type StreamStore } from "../streams/index.ts";

/** Requests of an engine on their way to actors: those that were answered leave the store. */
export class RequestLog {
  readonly #store: StreamStore;
  readonly #stream: string;
  /** Where those under way lie, once they are there. */
  readonly #offsets = new Map<number, Offset>();
  readonly #ended = new Set<number>();
  #last: Offset = 0;

  constructor(store: StreamStore, stream: string) {
    this.#store = store;
    this.#stream = stream;
  }

  async append(number: number, payload: Uint8Array, size: EntrySize): Promise<void> {
    const offset = await this.#store.append(this.#stream, String(number), payload, size);
    this.#last = Math.max(this.#last, offset);
    if (!this.#ended.delete(number)) this.#offsets.set(number, offset);
  }

  /** It was answered, or nobody waits for it any more. */
  end(number: number): void {
    if (!this.#offsets.delete(number)) this.#ended.add(number);
  }

  /** Drops those before the oldest under way. One that was aborted may still be an actor's: the next time, then. */
  async trim(): Promise<void> {
    const oldest = Math.min(this.#last + 1, ...this.#offsets.values());
    await this.#store.trim(this.#stream, oldest).catch((error: unknown) => {
      if (!(error instanceof StreamError) || error.why !== "held") throw error;
    });
  }
}
