import type { Verdict } from "../records.ts";
import type { Timeline } from "./timeline.ts";

const VERDICT: Verdict = { status: "correct", score: 1, reason: "simulated" };

/** Workers that judge one answer each at a time, in order of asking. */
export class VerifierWorkers {
  busySeconds = 0;
  judged = 0;
  /** Sum over answers of the seconds between asking and the verdict. */
  waitedSeconds = 0;
  readonly #timeline: Timeline;
  /** Times at which each worker is free: a binary heap. */
  readonly #free: number[];

  constructor(workers: number, timeline: Timeline) {
    this.#timeline = timeline;
    this.#free = new Array<number>(workers).fill(0);
  }

  /** Resolves when all answers have a verdict. @param seconds for which each answer occupies a worker */
  judge(seconds: readonly number[]): Promise<Verdict[]> {
    const now = this.#timeline.seconds;
    let last = now;
    for (const taken of seconds) {
      const end = Math.max(now, this.#free[0]!) + taken;
      this.#occupy(end);
      this.busySeconds += taken;
      this.waitedSeconds += end - now;
      last = Math.max(last, end);
    }
    this.judged += seconds.length;
    return this.#timeline.after(last - now).then(() => seconds.map(() => VERDICT));
  }

  /** Occupies the first free worker until `end`. */
  #occupy(end: number): void {
    const heap = this.#free;
    let parent = 0;
    for (;;) {
      let child = 2 * parent + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child += 1;
      if (heap[child]! >= end) break;
      heap[parent] = heap[child]!;
      parent = child;
    }
    heap[parent] = end;
  }
}
