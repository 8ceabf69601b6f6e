import type { Clock } from "../clock.ts";
import { HoneError } from "../errors.ts";
import { EventQueue } from "./event-queue.ts";

/**
 * The virtual clock of a simulation and its scheduled events. The pipeline's stages are asynchronous and unaware of
 * time; after handing them something, call `settle`, and no later event runs before they have done all possible work.
 */
export class Timeline implements Clock {
  /** Seconds since the run began. */
  seconds = 0;
  /** Number of events that have happened. */
  moments = 0;
  readonly #heap = new EventQueue();
  #handedOver = true;

  /** Milliseconds, as the accounting needs them. */
  now(): number {
    return this.seconds * 1000;
  }

  /** @param seconds absolute; a past time is due immediately @param tag passed to `run` */
  at(seconds: number, run: (tag: number) => void, tag = 0): void {
    this.#heap.add(Math.max(seconds, this.seconds), run, tag);
  }

  /** Resolves after this many seconds. */
  after(seconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.at(this.seconds + seconds, () => {
        resolve();
        this.settle();
      });
    });
  }

  /**
   * To be called after handing something to the pipeline's stages: they then do their work before the next
   * event.
   */
  settle(): void {
    this.#handedOver = true;
  }

  /** Runs events until `over`. Throws HONE_ERR_STALL if none is left before that. */
  async run(over: () => boolean): Promise<void> {
    for (;;) {
      if (this.#handedOver) {
        this.#handedOver = false;
        await quiet();
      }
      if (over()) return;
      if (this.#heap.size === 0) throw standsStill(this.seconds);
      this.seconds = this.#heap.firstAt;
      this.moments += 1;
      this.#heap.runFirst();
    }
  }
}

/**
 * Resolves after all pending promise callbacks: the tick queue is processed when the microtask queue is empty. Unlike
 * setImmediate it makes no system call, which would take most of the time of a simulation.
 */
const quiet = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

function standsStill(seconds: number): HoneError {
  return new HoneError(
    "HONE_ERR_STALL",
    `after ${seconds.toFixed(1)} simulated seconds nothing moves any more`,
    {
      hint: "Possible causes: a domain whose groups are never kept; too few credits for a step.",
    },
  );
}
