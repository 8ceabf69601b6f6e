import { wrong } from "../../domains/verifier.ts";
import type { Verdict } from "../../records.ts";

/** A fault of a service that the reward waits for, not of the completion. */
export const noAnswerIn = (timeoutMs: number): Verdict => ({
  status: "unscored",
  cause: `the reward gave no answer in ${timeoutMs} ms`,
});

/** The completion's fault: judging it takes too long. */
export const tooSlow = (timeoutMs: number): Verdict => wrong(`verification took over ${timeoutMs} ms`);

/** Aborts a signal when the time is up, or before. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #ms: number;
  readonly #isUp: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param isUp called just before the signal is aborted. */
  constructor(ms: number, isUp: () => void) {
    this.#ms = ms;
    this.#isUp = isUp;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    this.#timer = setTimeout(() => this.abort(), this.#ms);
  }

  abort(): void {
    this.#isUp();
    this.#controller.abort();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
