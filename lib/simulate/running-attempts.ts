import type { Attempt } from "./attempt.ts";

/** The attempts that have a slot, the one that ends first in front: a binary heap by `endStep`. */
export class RunningAttempts {
  readonly #heap: Attempt[] = [];

  get size(): number {
    return this.#heap.length;
  }

  get first(): Attempt | undefined {
    return this.#heap[0];
  }

  /** In no order. */
  get all(): readonly Attempt[] {
    return this.#heap;
  }

  add(attempt: Attempt): void {
    this.#heap.push(attempt);
    this.#rise(this.#heap.length - 1, attempt);
  }

  /** Trusts that there is one. */
  takeFirst(): Attempt {
    return this.#take(0);
  }

  /** The one that was submitted last. Trusts that there is one. */
  takeYoungest(): Attempt {
    const heap = this.#heap;
    let youngest = 0;
    for (let i = 1; i < heap.length; i++) if (heap[i]!.order > heap[youngest]!.order) youngest = i;
    return this.#take(youngest);
  }

  clear(): void {
    this.#heap.length = 0;
  }

  #take(index: number): Attempt {
    const heap = this.#heap;
    const taken = heap[index]!;
    const last = heap.pop()!;
    if (index < heap.length) this.#rise(this.#sink(index, last), last);
    return taken;
  }

  /** Returns where it came to rest. */
  #sink(from: number, attempt: Attempt): number {
    const heap = this.#heap;
    let parent = from;
    for (;;) {
      let child = 2 * parent + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
      if (!before(heap[child]!, attempt)) break;
      heap[parent] = heap[child]!;
      parent = child;
    }
    heap[parent] = attempt;
    return parent;
  }

  #rise(from: number, attempt: Attempt): void {
    const heap = this.#heap;
    let child = from;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!before(attempt, heap[parent]!)) break;
      heap[child] = heap[parent]!;
      child = parent;
    }
    heap[child] = attempt;
  }
}

/** Those that end in the same step end in order of submission, whatever the heap looks like. */
const before = (a: Attempt, b: Attempt): boolean =>
  a.endStep < b.endStep || (a.endStep === b.endStep && a.order < b.order);
