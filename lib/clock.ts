/** The clock of a run; tests and replays bring their own. */
export interface Clock {
  /** Milliseconds, monotonic, arbitrary origin. */
  now(): number;
}

export const systemClock: Clock = { now: () => performance.now() };
