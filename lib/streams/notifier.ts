/** Wakes those who wait for news of a topic. News between a look and the wait that follows are not missed. */
export class Notifier {
  readonly #rung = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #all = 0;

  /** Number of notifications of the topic so far. Given to `wait`, which resolves when there are more. */
  count(topic: string): number {
    return this.#all + (this.#rung.get(topic) ?? 0);
  }

  /** @param topic undefined: every topic. */
  ring(topic: string | undefined): void {
    if (topic === undefined) this.#all += 1;
    else this.#rung.set(topic, (this.#rung.get(topic) ?? 0) + 1);
    const woken = topic === undefined ? [...this.#waiting.values()] : [this.#waiting.get(topic) ?? []];
    for (const wake of woken.flatMap((each) => [...each])) wake();
  }

  /** Resolves after `ms`, or as soon as the topic has rung more often than `seen` or `signal` is aborted. */
  wait(topic: string, seen: number, ms: number, signal?: AbortSignal): Promise<void> {
    if (this.count(topic) > seen || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(topic) ?? new Set();
      this.#waiting.set(topic, waiters);
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        waiters.delete(wake);
        if (waiters.size === 0 && this.#waiting.get(topic) === waiters) this.#waiting.delete(topic);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal?.addEventListener("abort", wake);
      waiters.add(wake);
    });
  }
}
