import type { Machine } from "./machine.ts";
import type { Timeline } from "./timeline.ts";

/** An engine that shares the cores. */
interface Sharer {
  /** Sets how many seconds of work pass per second. */
  setSpeed(speed: number): void;
}

interface Work {
  readonly cores: number;
  readonly done: () => void;
  /** Seconds of work that are left. */
  left: number;
  /** Number of the current plan; ends that were planned before the last change have an older number. */
  plan: number;
}

/**
 * The cores of one machine, shared by engines, the trainer and the work around engines: if the demand exceeds the
 * cores, all are slowed by the same factor.
 */
export class SharedCores {
  readonly #shared: NonNullable<Machine["shared"]>;
  readonly #timeline: Timeline;
  readonly #engines: readonly Sharer[];
  readonly #works = new Set<Work>();
  /** Callbacks of groups waiting for service; the first one is being served. */
  readonly #served: (() => void)[] = [];
  #busy = 0;
  #speed = 1;
  #since = 0;

  constructor(shared: NonNullable<Machine["shared"]>, timeline: Timeline, engines: readonly Sharer[]) {
    this.#shared = shared;
    this.#timeline = timeline;
    this.#engines = engines;
  }

  /** One more engine has something to decode, or (-1) one fewer. */
  engine(change: 1 | -1): void {
    this.#busy += change;
    this.#share();
  }

  /** Resolves when `seconds` of a trainer's work are done and all engines have the new weights. */
  train(seconds: number, engines: number): Promise<void> {
    const { trainer, update } = this.#shared;
    return new Promise((resolve) => {
      this.#work(trainer, seconds + engines * update, () => {
        resolve();
        this.#timeline.settle();
      });
    });
  }

  /** Calls back after the cost of a group outside its engine; groups are served one at a time. */
  serve(done: () => void): void {
    this.#served.push(done);
    if (this.#served.length === 1) this.#serveNext();
  }

  #serveNext(): void {
    this.#work(this.#shared.service, this.#shared.perGroup, () => {
      const done = this.#served.shift()!;
      if (this.#served.length > 0) this.#serveNext();
      done();
    });
  }

  #work(cores: number, seconds: number, done: () => void): void {
    this.#pass();
    const work = { cores, done, left: seconds, plan: 0 };
    this.#works.add(work);
    if (!this.#share()) this.#planEnd(work);
  }

  /** Computes the common speed; returns whether it has changed, and with it all plans. */
  #share(): boolean {
    let wanted = this.#busy * this.#shared.engine;
    for (const { cores } of this.#works) wanted += cores;
    const speed = Math.min(1, this.#shared.cores / Math.max(wanted, Number.MIN_VALUE));
    if (speed === this.#speed) return false;
    this.#pass();
    this.#speed = speed;
    for (const work of this.#works) this.#planEnd(work);
    for (const engine of this.#engines) engine.setSpeed(speed);
    return true;
  }

  #pass(): void {
    const { seconds } = this.#timeline;
    for (const work of this.#works) work.left -= (seconds - this.#since) * this.#speed;
    this.#since = seconds;
  }

  #planEnd(work: Work): void {
    work.plan += 1;
    const end = (plan: number) => {
      if (plan !== work.plan) return;
      this.#pass();
      this.#works.delete(work);
      this.#share();
      work.done();
    };
    this.#timeline.at(this.#since + Math.max(0, work.left) / this.#speed, end, work.plan);
  }
}
