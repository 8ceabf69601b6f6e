import type { Timeline } from "./timeline.ts";

/** How many are somewhere, how fast they go through, and how long they stay: the three numbers of Little's law, each measured by itself. */
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

  /** @param seconds that each of them stayed */
  go(count: number, seconds: number): void {
    this.#pass();
    this.#present -= count;
    this.#gone += count;
    this.#staySeconds += count * seconds;
  }

  /** Mean number, how many a second, and mean seconds of those that are gone. */
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
