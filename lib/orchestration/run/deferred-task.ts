/**
 * Work that is deferred until everything more urgent has started: the next step's requests are with their engine,
 * also in another process, and its batch trains. Pieces run in order, each once. Once one has thrown, every flush
 * throws its error, since the first caller to flush need not be the one that should fail: it may be a checkpoint that
 * a user requested.
 */
export class DeferredTask {
  #work: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;

  /**
   * Runs previously deferred work, then schedules `work` for the event-loop turn after the next: the next
   * turn still sends the work started until then, since a store batches the writes of one turn.
   */
  defer(work: () => void): void {
    this.flush();
    this.#work = work;
    const run = () => {
      if (this.#work === work) this.#run();
    };
    setImmediate(() => setImmediate(run));
  }

  /** Runs the deferred work now. Throws its exception, or that of any earlier piece. */
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
