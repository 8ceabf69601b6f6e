import type { Attempt } from "./attempt.ts";

const FIRST_ROOM = 64;

/**
 * The running attempts, the one that ends first in front: a binary heap by `endStep`. Its keys are in separate
 * arrays, which stay in the cache.
 */
export class RunningAttempts {
  readonly #heap: Attempt[] = [];
  #ends = new Float64Array(FIRST_ROOM);
  #orders = new Float64Array(FIRST_ROOM);

  get size(): number {
    return this.#heap.length;
  }

  /** The step in which the first attempt ends; the heap must not be empty. */
  get firstEnd(): number {
    return this.#ends[0]!;
  }

  /** All running attempts, in arbitrary order. */
  get all(): readonly Attempt[] {
    return this.#heap;
  }

  add(attempt: Attempt): void {
    const { length } = this.#heap;
    if (length === this.#ends.length) this.#grow();
    this.#heap.push(attempt);
    this.#rise(length, attempt, attempt.endStep, attempt.order);
  }

  /** Removes and returns the attempt that ends first; the heap must not be empty. */
  takeFirst(): Attempt {
    return this.#take(0);
  }

  /** The attempt that was submitted last; the heap must not be empty. */
  takeYoungest(): Attempt {
    const orders = this.#orders;
    const { length } = this.#heap;
    let youngest = 0;
    let order = orders[0]!;
    for (let i = 1; i < length; i++)
      if (orders[i]! > order) {
        youngest = i;
        order = orders[i]!;
      }
    return this.#take(youngest);
  }

  clear(): void {
    this.#heap.length = 0;
  }

  #take(index: number): Attempt {
    const heap = this.#heap;
    const taken = heap[index]!;
    const last = heap.pop()!;
    const { length } = heap;
    if (index < length) {
      const [end, order] = [this.#ends[length]!, this.#orders[length]!];
      this.#rise(this.#sink(index, end, order), last, end, order);
    }
    return taken;
  }

  /** Moves earlier attempts up; returns the free position. */
  #sink(from: number, end: number, order: number): number {
    const { length } = this.#heap;
    let parent = from;
    for (;;) {
      let child = 2 * parent + 1;
      if (child >= length) return parent;
      const other = child + 1;
      if (other < length && !this.#isBefore(child, this.#ends[other]!, this.#orders[other]!)) child = other;
      if (!this.#isBefore(child, end, order)) return parent;
      this.#copy(child, parent);
      parent = child;
    }
  }

  #rise(from: number, attempt: Attempt, end: number, order: number): void {
    let child = from;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (this.#isBefore(parent, end, order)) break;
      this.#copy(parent, child);
      child = parent;
    }
    this.#heap[child] = attempt;
    this.#ends[child] = end;
    this.#orders[child] = order;
  }

  /** Attempts that end in the same step are ordered by submission, independent of the heap's layout. */
  #isBefore(index: number, end: number, order: number): boolean {
    const own = this.#ends[index]!;
    return own < end || (own === end && this.#orders[index]! < order);
  }

  #copy(from: number, to: number): void {
    this.#heap[to] = this.#heap[from]!;
    this.#ends[to] = this.#ends[from]!;
    this.#orders[to] = this.#orders[from]!;
  }

  #grow(): void {
    const grown = (old: Float64Array) => {
      const larger = new Float64Array(2 * old.length);
      larger.set(old);
      return larger;
    };
    this.#ends = grown(this.#ends);
    this.#orders = grown(this.#orders);
  }
}
