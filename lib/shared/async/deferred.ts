/** A promise and the two ways to settle it (Promise.withResolvers, which Node 20 lacks). */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

export function deferred<T>(): Deferred<T> {
  let settle!: Pick<Deferred<T>, "resolve" | "reject">;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}

/** Wakes waiting callers at the next ring. */
export class Wake {
  #next = deferred<void>();

  /** Settles with the next `ring`. */
  get next(): Promise<void> {
    return this.#next.promise;
  }

  ring(): void {
    const { resolve } = this.#next;
    this.#next = deferred();
    resolve();
  }
}
