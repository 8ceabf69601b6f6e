type Run = (tag: number) => void;

const FIRST_ROOM = 256;

/**
 * Scheduled events: a binary heap by time, ties in order of insertion. A simulation has millions, so they are numbers
 * in arrays and not objects.
 */
export class EventQueue {
  #size = 0;
  #asked = 0;
  #at = new Float64Array(FIRST_ROOM);
  /** Breaks ties: events at the same time run in order of insertion. */
  #order = new Float64Array(FIRST_ROOM);
  #tag = new Float64Array(FIRST_ROOM);
  readonly #run: Run[] = [];

  get size(): number {
    return this.#size;
  }

  /** Time of the first event; the queue must not be empty. */
  get firstAt(): number {
    return this.#at[0]!;
  }

  add(at: number, run: Run, tag: number): void {
    if (this.#size === this.#at.length) this.#grow();
    const order = this.#asked;
    this.#asked += 1;
    let child = this.#size;
    this.#size += 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#isAfter(parent, at, order)) break;
      this.#copy(parent, child);
      child = parent;
    }
    this.#put(child, at, order, run, tag);
  }

  /** Removes the first event and runs it; the queue must not be empty. */
  runFirst(): void {
    const run = this.#run[0]!;
    const tag = this.#tag[0]!;
    this.#size -= 1;
    const last = this.#size;
    const lastRun = this.#run.pop()!;
    if (last > 0) {
      const [at, order] = [this.#at[last]!, this.#order[last]!];
      this.#put(this.#sink(at, order), at, order, lastRun, this.#tag[last]!);
    }
    run(tag);
  }

  /** Final heap position of an event that starts at the free front. */
  #sink(at: number, order: number): number {
    let parent = 0;
    for (;;) {
      let child = 2 * parent + 1;
      if (child >= this.#size) return parent;
      const other = child + 1;
      if (other < this.#size && this.#isAfter(child, this.#at[other]!, this.#order[other]!)) child = other;
      if (this.#isAfter(child, at, order)) return parent;
      this.#copy(child, parent);
      parent = child;
    }
  }

  #isAfter(index: number, at: number, order: number): boolean {
    const own = this.#at[index]!;
    return own > at || (own === at && this.#order[index]! > order);
  }

  #copy(from: number, to: number): void {
    this.#put(to, this.#at[from]!, this.#order[from]!, this.#run[from]!, this.#tag[from]!);
  }

  #put(index: number, at: number, order: number, run: Run, tag: number): void {
    this.#at[index] = at;
    this.#order[index] = order;
    this.#run[index] = run;
    this.#tag[index] = tag;
  }

  #grow(): void {
    const grown = (old: Float64Array) => {
      const larger = new Float64Array(2 * old.length);
      larger.set(old);
      return larger;
    };
    this.#at = grown(this.#at);
    this.#order = grown(this.#order);
    this.#tag = grown(this.#tag);
  }
}
