import type { Clock } from "../clock.ts";
import { HoneError } from "../errors.ts";

interface Entry {
  readonly at: number;
  /** Breaks ties: what was asked for first happens first. */
  readonly order: number;
  readonly run: (tag: number) => void;
  readonly tag: number;
}

/**
 * The virtual clock of a simulation and what is to happen on it: a binary heap of moments. The stages of the line are
 * asynchronous and know no time; whoever hands them something calls `settle`, and nothing further happens before they
 * have done all that they can.
 */
export class Timeline implements Clock {
  /** Since the run began. */
  seconds = 0;
  /** Moments that came so far. */
  moments = 0;
  readonly #heap: Entry[] = [];
  #order = 0;
  #handedOver = true;

  /** Milliseconds, as the books want them. */
  now(): number {
    return this.seconds * 1000;
  }

  /** @param seconds absolute; a moment that has passed comes at once. @param tag handed to `run` */
  at(seconds: number, run: (tag: number) => void, tag = 0): void {
    const heap = this.#heap;
    const entry = { at: Math.max(seconds, this.seconds), order: this.#order, run, tag };
    this.#order += 1;
    let child = heap.length;
    heap.push(entry);
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!before(entry, heap[parent]!)) break;
      heap[child] = heap[parent]!;
      child = parent;
    }
    heap[child] = entry;
  }

  /** Resolves when so many seconds have gone by. */
  after(seconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.at(this.seconds + seconds, () => {
        resolve();
        this.settle();
      });
    });
  }

  /** The stages of the line were handed something. */
  settle(): void {
    this.#handedOver = true;
  }

  /** Moment after moment until `over`. Throws HONE_ERR_STALL where nothing is left to happen before that. */
  async run(over: () => boolean): Promise<void> {
    for (;;) {
      if (this.#handedOver) {
        this.#handedOver = false;
        await quiet();
      }
      if (over()) return;
      const next = this.#next();
      if (next === undefined) throw standsStill(this.seconds);
      this.seconds = next.at;
      this.moments += 1;
      next.run(next.tag);
    }
  }

  #next(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return first;
    let parent = 0;
    for (;;) {
      let child = 2 * parent + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
      if (!before(heap[child]!, last)) break;
      heap[parent] = heap[child]!;
      parent = child;
    }
    heap[parent] = last;
    return first;
  }
}

/**
 * Resolves when no promise has anything left to do: the queue of ticks is looked at when that of promises is empty. Unlike
 * setImmediate it does not ask the operating system for anything, which would take most of the time of a simulation.
 */
const quiet = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

function standsStill(seconds: number): HoneError {
  return new HoneError(
    "HONE_ERR_STALL",
    `after ${seconds.toFixed(1)} simulated seconds nothing moves any more`,
    {
      hint: "A domain whose groups are never kept, or too few credits for a step?",
    },
  );
}
