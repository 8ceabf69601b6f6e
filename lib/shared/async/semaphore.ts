/** Lets at most `permits` callers hold a permit at a time; further callers wait in order of arrival. */
export class Semaphore {
  readonly #permits: () => number;
  #out = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param permits may grow: waiting callers get the new permits at the next release */
  constructor(permits: () => number) {
    this.#permits = permits;
  }

  /** Runs the task when a permit is free and gives the permit back when it settles. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    this.#admit();
    if (this.#waiting.length === 0 && this.#out < this.#permits()) this.#out += 1;
    else await new Promise<void>((admit) => this.#waiting.push(admit));
    try {
      return await task();
    } finally {
      this.#out -= 1;
      this.#admit();
    }
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#out < this.#permits()) {
      this.#out += 1;
      this.#waiting.shift()!();
    }
  }
}
