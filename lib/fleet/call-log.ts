import type { Offset, StreamStore } from "../streams/index.ts";
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
