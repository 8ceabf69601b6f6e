/**
 * Work that waits until everything more urgent is started: the next step's requests are with their engine, also where
 * that is in another process, and its batch trains. Pieces run in order, each once; what one throws comes out of the next
 * `flush`.
 */
export class Later {
  #work: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;

  /**
   * Does what was deferred before, then keeps `work` for the event loop's turn after the next: in the next one goes out what
   * is started until then, since a store writes what belongs to one turn together.
   */
  defer(work: () => void): void {
    this.flush();
    this.#work = work;
    const run = () => {
      try {
        if (this.#work === work) this.#run();
      } catch (error) {
        this.#failure = { error };
      }
    };
    setImmediate(() => setImmediate(run));
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
