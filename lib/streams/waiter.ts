import { HoneError } from "../errors.ts";
import type { Bell } from "./bell.ts";
import { checkMs } from "./checks.ts";
import type { Driver } from "./driver.ts";

/** What a look at the store found, or when it is worth while to look again. */
export interface Look<T> {
  readonly found?: T;
  readonly nextMs?: number | undefined;
}

const GROWTH = 1.5;

/** Looks again and again until there is something, woken by news. */
export class Waiter {
  readonly #bell: Bell;
  readonly #pauseMs: Driver["pauseMs"];
  readonly #attend: (topic: string) => void;
  #isClosed = false;

  /** @param attend told of each topic before the first look at it */
  constructor(bell: Bell, pauseMs: Driver["pauseMs"], attend: (topic: string) => void = () => {}) {
    this.#bell = bell;
    this.#pauseMs = pauseMs;
    this.#attend = attend;
  }

  /**
   * What `look` found, undefined if nothing within `waitMs`. What is found while the wait is called off is returned all
   * the same: it may be leased. Rejects with HONE_ERR_ABORTED, HONE_ERR_STATE after `close`.
   */
  async until<T>(
    topic: string,
    { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal },
    look: () => Promise<Look<T>>,
  ): Promise<T | undefined> {
    checkMs("waitMs", waitMs);
    const deadline = performance.now() + waitMs;
    if (waitMs > 0) this.#attend(topic);
    let pauseMs = this.#pauseMs.first;
    for (;;) {
      this.#goOn(signal);
      const seen = this.#bell.count(topic);
      const { found, nextMs = Number.POSITIVE_INFINITY } = await look();
      if (found !== undefined) return found;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return undefined;
      await this.#bell.wait(topic, seen, Math.min(leftMs, pauseMs, Math.max(nextMs, 1)), signal);
      const isNews = this.#bell.count(topic) > seen;
      pauseMs = isNews ? this.#pauseMs.first : Math.min(pauseMs * GROWTH, this.#pauseMs.most);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#bell.ring(undefined);
  }

  #goOn(signal: AbortSignal | undefined): void {
    if (signal?.aborted)
      throw new HoneError("HONE_ERR_ABORTED", "waiting for a stream was called off", {
        cause: signal.reason,
      });
    if (this.#isClosed) throw new HoneError("HONE_ERR_STATE", "the stream store is closed");
  }
}
