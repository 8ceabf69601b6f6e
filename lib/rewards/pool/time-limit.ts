import { wrong } from "../../domains/verifier.ts";
import type { Verdict } from "../../records.ts";

/** The verdict if the service that a reward waits for is too slow, which is not the completion's fault. */
export const noAnswerIn = (timeoutMs: number): Verdict => ({
  status: "unscored",
  cause: `the reward gave no answer in ${timeoutMs} ms`,
});

/** The verdict if judging takes too long, which is the completion's fault. */
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
