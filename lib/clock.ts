/** Time as the line sees it, so that tests and replays can bring their own. */
export interface Clock {
  /** Milliseconds, monotonic, arbitrary origin. */
  now(): number;
}

export const systemClock: Clock = { now: () => performance.now() };
