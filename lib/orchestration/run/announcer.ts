import type { RunEvents } from "./run-interface.ts";

const MOST_EARLY = 20;

type Listener = (...args: unknown[]) => unknown;

/**
 * Calls the listeners of a run's events. A listener's error becomes one warning per event, and changes nothing.
 * Warnings raised before a listener could be added (createRun has not returned yet) are kept for the first listener.
 */
export class Announcer {
  readonly #listeners = new Map<keyof RunEvents, Listener[]>();
  readonly #failed = new Set<keyof RunEvents>();
  #early: string[] = [];

  /** Returns a function that removes the listener. */
  on<E extends keyof RunEvents>(event: E, listener: (...args: RunEvents[E]) => unknown): () => void {
    const entry: Listener = (...args) => listener(...(args as unknown as RunEvents[E]));
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), entry]);
    if (event === "warning" && this.#early.length > 0) queueMicrotask(() => this.#tellEarly());
    return () => {
      const others = this.#listeners.get(event)!.filter((other) => other !== entry);
      this.#listeners.set(event, others);
    };
  }

  hears(event: keyof RunEvents): boolean {
    return (this.#listeners.get(event) ?? []).length > 0;
  }

  emit<E extends keyof RunEvents>(event: E, ...args: RunEvents[E]): void {
    if (event === "warning" && !this.hears(event)) return void this.#keepEarly(String(args[0]));
    if (event === "warning") this.#tellEarly();
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        const promise = listener(...args);
        if (promise instanceof Promise) promise.catch((error: unknown) => this.#warn(event, error));
      } catch (error) {
        this.#warn(event, error);
      }
    }
  }

  /** Keeps the first messages only: without a listener, a whole run's would accumulate. */
  #keepEarly(message: string): void {
    if (this.#early.length < MOST_EARLY) this.#early.push(message);
  }

  #tellEarly(): void {
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.emit("warning", message);
  }

  #warn(event: keyof RunEvents, error: unknown): void {
    if (this.#failed.has(event)) return;
    this.#failed.add(event);
    this.emit("warning", `a listener of "${event}" failed, and the run continues: ${String(error)}`);
  }
}
