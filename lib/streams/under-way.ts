import type { HoneError } from "../errors.ts";

/** Pending calls of a store, which are rejected if the store is abandoned. */
export class UnderWay {
  readonly #rejects = new Set<(why: HoneError) => void>();
  #why: HoneError | undefined;

  /** Settles as `call` does, unless `abandon` comes first. */
  run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#why !== undefined) return Promise.reject(this.#why);
    return new Promise<T>((resolve, reject) => {
      this.#rejects.add(reject);
      (async () => call())() // turns a synchronous exception into a rejection
        .then(resolve, reject)
        .finally(() => this.#rejects.delete(reject));
    });
  }

  /** Rejects every pending and later call with `why`. Keeps the first reason. */
  abandon(why: HoneError): void {
    this.#why ??= why;
    for (const reject of this.#rejects) reject(this.#why);
  }
}
