/**
 * Work that is deferred until everything more urgent has started: the next step's requests are with their engine, also
 * in another process, and its batch trains. Pieces run in order, each once. Once one has thrown, every flush throws its
 * error, since the first caller to flush need not be the one that should fail: it may be a checkpoint that a user
 * requested.
 */
export class DeferredTask {
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
      if (this.#work === work) this.#run();
    };
    setImmediate(() => setImmediate(run));
  }

  /** Does at once what is deferred. Throws what it, or any piece before it, has thrown. */
  flush(): void {
    this.#run();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #run(): void {
    const work = this.#work;
    this.#work = undefined;
    try {
      work?.();
    } catch (error) {
      this.#failure ??= { error };
    }
  }
}
