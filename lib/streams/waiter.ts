import { HoneError } from "../errors.ts";
import { checkMs } from "./checks.ts";
import type { Driver } from "./driver.ts";
import type { Notifier } from "./notifier.ts";

/** Result of one look at the store, or the time of the next look if it found nothing. */
export interface Look<T> {
  readonly found?: T;
  readonly nextMs?: number | undefined;
}

/** State after a look that found nothing more: valid until the topic is notified more often than this. */
export interface Quiet {
  readonly count: number;
  readonly untilMs: number;
}

type Known<T> = Quiet & { readonly found?: T };

const GROWTH = 1.5;

/** The time this many milliseconds from now; infinity if undefined. */
export const inMs = (ms = Number.POSITIVE_INFINITY): number => performance.now() + ms;

/** Polls the store until it has what a caller waits for; notifications make it poll at once. */
export class Waiter {
  readonly #notifier: Notifier;
  readonly #pauseMs: Driver["pauseMs"];
  readonly #attend: (topic: string) => void;
  #closed: HoneError | undefined;

  /** @param attend called with the topic before every look of a waiting reader */
  constructor(notifier: Notifier, pauseMs: Driver["pauseMs"], attend: (topic: string) => void = () => {}) {
    this.#notifier = notifier;
    this.#pauseMs = pauseMs;
    this.#attend = attend;
  }

  /**
   * Result of `look`, undefined if it found nothing within `waitMs`. A result is returned even if the wait is
   * aborted meanwhile: it may be leased. Rejects with HONE_ERR_ABORTED, and after `close` with its reason.
   * @param look receives the topic's number of notifications before it
   * @param quiet result of an earlier wait, from which this one continues without a look
   */
  async until<T>(
    topic: string,
    { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal },
    look: (count: number) => Promise<Look<T>>,
    quiet?: Quiet,
  ): Promise<T | undefined> {
    checkMs("waitMs", waitMs);
    const deadline = performance.now() + waitMs;
    let pauseMs = this.#pauseMs.first;
    for (let known = waitMs > 0 ? quiet : undefined; ; known = undefined) {
      this.#goOn(signal);
      const { count, untilMs, found }: Known<T> = known ?? (await this.#look(topic, waitMs > 0, look));
      if (found !== undefined) return found;
      const now = performance.now();
      if (now >= deadline) return undefined;
      await this.#notifier.wait(
        topic,
        count,
        Math.min(deadline - now, pauseMs, Math.max(untilMs - now, 1)),
        signal,
      );
      const isNews = this.#notifier.count(topic) > count;
      pauseMs = isNews ? this.#pauseMs.first : Math.min(pauseMs * GROWTH, this.#pauseMs.most);
    }
  }

  /** Keeps the first reason. */
  close(why = new HoneError("HONE_ERR_STATE", "the stream store is closed")): void {
    this.#closed ??= why;
    this.#notifier.ring(undefined);
  }

  async #look<T>(
    topic: string,
    isWaiting: boolean,
    look: (count: number) => Promise<Look<T>>,
  ): Promise<Known<T>> {
    if (isWaiting) this.#attend(topic);
    const count = this.#notifier.count(topic);
    const { found, nextMs } = await look(count);
    return { count, untilMs: inMs(nextMs), ...(found !== undefined && { found }) };
  }

  #goOn(signal: AbortSignal | undefined): void {
    if (signal?.aborted)
      throw new HoneError("HONE_ERR_ABORTED", "waiting for a stream was cancelled", {
        cause: signal.reason,
      });
    if (this.#closed !== undefined) throw this.#closed;
  }
}
