/**
 * An unbounded queue between one producer that pushes and one consumer that iterates. Does not bound its
 * length: in the pipeline the limit on rollouts in progress does.
 */
export class Channel<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #head = 0;
  #state: "open" | "ended" | "failed" = "open";
  #error: unknown;
  #wake: (() => void) | undefined;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    if (this.#state !== "open") return;
    this.#items.push(item);
    this.#signal();
  }

  /** No more items will be pushed; queued items are still delivered. Idempotent. */
  end(): void {
    if (this.#state === "open") this.#state = "ended";
    this.#signal();
  }

  /** Queued items are still delivered; then the consumer gets the error. Only the first error counts. */
  fail(error: unknown): void {
    if (this.#state === "failed") return;
    this.#state = "failed";
    this.#error = error;
    this.#signal();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      while (this.#head < this.#items.length) yield this.#take();
      if (this.#state === "failed") throw this.#error;
      if (this.#state === "ended") return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(): T {
    const item = this.#items[this.#head]!;
    this.#head += 1;
    // Drops delivered items even if the queue never runs empty; each item is moved once on average.
    if (2 * this.#head >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  #signal(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** Feeds a channel from an iterable at the iterable's speed; the channel ends or fails when the iterable does. */
export async function pour<T>(source: AsyncIterable<T>, channel: Channel<T>): Promise<void> {
  try {
    for await (const item of source) channel.push(item);
    channel.end();
  } catch (error) {
    channel.fail(error);
  }
}
