import type { HoneError } from "../errors.ts";

/** Calls of a store under way, which end early where the store is given up. */
export class UnderWay {
  readonly #rejects = new Set<(why: HoneError) => void>();
  #why: HoneError | undefined;

  /** Settles as `call` does, unless `abandon` comes first. */
  run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#why !== undefined) return Promise.reject(this.#why);
    return new Promise<T>((resolve, reject) => {
      this.#rejects.add(reject);
      (async () => call())() // a refusal that is thrown is one too
        .then(resolve, reject)
        .finally(() => this.#rejects.delete(reject));
    });
  }

  /** Rejects every call under way, and every later one, with `why`. The first reason stays. */
  abandon(why: HoneError): void {
    this.#why ??= why;
    for (const reject of this.#rejects) reject(this.#why);
  }
}
