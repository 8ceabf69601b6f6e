import type { Attempt } from "./attempt.ts";

/** Attempts that have begun and lost their slot, in order of submission. */
export class ParkedAttempts {
  #attempts: Attempt[] = [];

  get size(): number {
    return this.#attempts.length;
  }

  get all(): readonly Attempt[] {
    return this.#attempts;
  }

  get first(): Attempt | undefined {
    return this.#attempts[0];
  }

  /** Inserts an attempt, which is usually older than all others here. */
  add(attempt: Attempt): void {
    const younger = this.#attempts.findIndex(({ order }) => order > attempt.order);
    if (younger === 0) this.#attempts.unshift(attempt);
    else this.#attempts.splice(younger < 0 ? this.#attempts.length : younger, 0, attempt);
  }

  /** Removes and returns the oldest attempt; the list must not be empty. */
  takeFirst(): Attempt {
    return this.#attempts.shift()!;
  }

  takeAll(): Attempt[] {
    const all = this.#attempts;
    this.#attempts = [];
    return all;
  }
}
