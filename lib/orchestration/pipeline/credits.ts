import { HoneError } from "../../errors.ts";

/**
 * Limits the groups between submission and training. A fixed number of credits exists; taking one waits until one is
 * free, first come first served. While paused, none is free.
 */
export class Credits {
  readonly total: number;
  #free: number;
  #paused = false;
  #closed = false;
  readonly #waiting: ((granted: boolean) => void)[] = [];
  readonly #whenGiven: (grant: () => void) => void;

  /** @param whenGiven when returned credits are granted to waiting callers; default: immediately */
  constructor(total: number, whenGiven: (grant: () => void) => void = (grant) => grant()) {
    this.total = total;
    this.#free = total;
    this.#whenGiven = whenGiven;
  }

  get free(): number {
    return this.#free;
  }

  /** Resolves to false once closed: no more groups may start. */
  take(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#grant();
    });
  }

  give(count: number): void {
    this.#free += count;
    if (this.#free > this.total) {
      throw new HoneError(
        "HONE_ERR_INTERNAL",
        `${this.#free} of ${this.total} credits are free: a credit was returned twice`,
      );
    }
    this.#whenGiven(() => this.#grant());
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#grant();
  }

  close(): void {
    this.#closed = true;
    for (const resolve of this.#waiting.splice(0)) resolve(false);
  }

  #grant(): void {
    while (this.#closed && this.#waiting.length > 0) this.#waiting.shift()!(false);
    while (!this.#paused && this.#free > 0 && this.#waiting.length > 0) {
      this.#free -= 1;
      this.#waiting.shift()!(true);
    }
  }
}
