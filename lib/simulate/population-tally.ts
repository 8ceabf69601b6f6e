import type { Timeline } from "./timeline.ts";

/** Mean population, throughput and residence time: the three quantities of Little's law, each measured independently. */
export class PopulationTally {
  readonly #timeline: Timeline;
  #present = 0;
  #gone = 0;
  #presentSeconds = 0;
  #staySeconds = 0;
  #changedAt = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  come(count: number): void {
    this.#pass();
    this.#present += count;
  }

  /** @param seconds for which each of the leaving members stayed */
  go(count: number, seconds: number): void {
    this.#pass();
    this.#present -= count;
    this.#gone += count;
    this.#staySeconds += count * seconds;
  }

  /** Mean number present, number leaving per second, and mean stay in seconds of those that have left. */
  get facts(): { readonly population: number; readonly rate: number; readonly seconds: number } {
    this.#pass();
    const { seconds } = this.#timeline;
    return {
      population: this.#presentSeconds / seconds,
      rate: this.#gone / seconds,
      seconds: this.#staySeconds / this.#gone,
    };
  }

  #pass(): void {
    const { seconds } = this.#timeline;
    this.#presentSeconds += this.#present * (seconds - this.#changedAt);
    this.#changedAt = seconds;
  }
}
