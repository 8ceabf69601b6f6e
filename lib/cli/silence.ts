import { type Clock, systemClock } from "../clock.ts";

/** Time without progress before a line names the awaited work; each further line comes after twice the time. */
const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;
const LOOK_MS = 1000;

/** Prints what a session is waiting for while nothing else is shown. */
export class Silence {
  readonly #say: (line: string) => void;
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  #sentence = "";
  #sinceMs: number;
  #nextMs = FIRST_MS;

  constructor(say: (line: string) => void, clock: Clock = systemClock) {
    this.#say = say;
    this.#clock = clock;
    this.#sinceMs = clock.now();
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /**
   * Resets the timer after other output. @param sentence describes the awaited work from now on; unchanged if
   * omitted, "" for none
   */
  broken(sentence = this.#sentence): void {
    this.#sentence = sentence;
    this.#sinceMs = this.#clock.now();
    this.#nextMs = FIRST_MS;
  }

  /**
   * Changes the sentence but not the timer, since this is no progress. @param sentence names the awaited work
   */
  waits(sentence: string): void {
    this.#sentence = sentence;
  }

  /** Prints the sentence if nothing was shown for long enough. */
  look(): void {
    const silentMs = this.#clock.now() - this.#sinceMs;
    if (this.#sentence === "" || silentMs < this.#nextMs) return;
    this.#nextMs = Math.min(2 * this.#nextMs, this.#nextMs + LONGEST_MS);
    this.#say(`no progress for ${Math.round(silentMs / 1000)} s: ${this.#sentence}`);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
