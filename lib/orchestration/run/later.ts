/**
 * Work that waits until everything more urgent is started: here, until the next step trains on its own thread. Pieces run in order, each once; what one throws comes out of the next `flush`.
 */
export class Later {
  #work: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Does what was deferred before, then keeps `work` for the event loop's next turn. */
  defer(work: () => void): void {
    this.flush();
    this.#work = work;
    setImmediate(() => {
      try {
        if (this.#work === work) this.#run();
      } catch (error) {
        this.#failure = { error };
      }
    });
  }

  /** Does at once what is deferred. Throws what it, or a piece done since the last call, has thrown. */
  flush(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    this.#run();
  }

  #run(): void {
    const work = this.#work;
    this.#work = undefined;
    work?.();
  }
}
