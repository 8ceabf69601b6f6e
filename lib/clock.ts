/** The clock of a run; tests and replays bring their own. */
export interface Clock {
  /** Milliseconds, monotonic, arbitrary origin. */
  now(): number;
}

/** The clock of a run that is not simulated: milliseconds since the process began. */
export const systemClock: Clock = { now: () => performance.now() };

const LOOK_MS = 250;
const LONGEST_STEP_MS = 1_000;

/**
 * A clock that advances by at most one second between two readings. A process that was stopped or busy for long has
 * unread messages in its sockets: it must read them before it declares their senders dead or their leases expired.
 * Reads itself four times a second until disposed.
 */
export class SteadyClock implements Clock, Disposable {
  readonly #clock: Clock;
  readonly #timer = setInterval(() => this.now(), LOOK_MS).unref();
  #last: number;
  #now = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#last = clock.now();
  }

  now(): number {
    const at = this.#clock.now();
    this.#now += Math.min(at - this.#last, LONGEST_STEP_MS);
    this.#last = at;
    return this.#now;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
