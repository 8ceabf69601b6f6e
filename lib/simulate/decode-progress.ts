/**
 * Seconds that a step of generation takes with B sequences whose keys and values are C tokens together:
 * fixed + perSequence B + perContextToken C.
 */
export interface DecodeLaw {
  readonly fixed: number;
  readonly perSequence: number;
  readonly perContextToken: number;
}

/**
 * Progress of one engine: every step gives each running sequence a token, so that the context grows by B per step and
 * the time of k steps is k r + c B k^2 / 2 with r = the step time at the first of them. Steps are a real number here:
 * an event for a token is scheduled at the time at which its count is reached.
 */
export class DecodeProgress {
  /** Steps done since the run began. */
  steps = 0;
  /** The time at which `steps` were done; in the future during a pause. */
  time = 0;
  /** B running sequences, and C tokens of keys and values in the cache. */
  batch = 0;
  context = 0;
  /** Sum over steps of the weight version that was used for sampling. */
  versions = 0;
  version = 0;
  /** Tokens sampled: the sum of B over steps. */
  tokens = 0;
  /** Seconds with a sequence running, and the sum of B over seconds. */
  busy = 0;
  sequenceSeconds = 0;
  readonly #law: DecodeLaw;
  /** Speed of the engine, in seconds of work per simulated second; below 1 if other work uses the cores. */
  #speed = 1;

  constructor(law: DecodeLaw) {
    this.#law = law;
  }

  /** Advances to the time `now`. */
  advance(now: number): void {
    if (now > this.time) this.#move(this.#stepsIn((now - this.time) * this.#speed), now);
  }

  /** Sets the number of steps exactly, at the time at which it is reached. */
  reach(steps: number, now: number): void {
    this.#move(steps - this.steps, now);
    this.steps = steps;
  }

  /** Time at which this number of steps is reached if nothing changes. */
  timeOf(steps: number): number {
    const k = steps - this.steps;
    const { perContextToken } = this.#law;
    return this.time + (k * this.#rate() + (perContextToken * this.batch * k * k) / 2) / this.#speed;
  }

  /** Decodes nothing for this long. Call after `advance`. */
  pause(seconds: number): void {
    this.time += seconds;
    this.sequenceSeconds += seconds * this.batch;
    if (this.batch > 0) this.busy += seconds;
  }

  /** Sets the decoding speed from now on. Call after `advance`. */
  set speed(speed: number) {
    this.#speed = speed;
  }

  #rate(): number {
    const { fixed, perSequence, perContextToken } = this.#law;
    return fixed + perSequence * this.batch + perContextToken * this.context;
  }

  /** Steps in this many seconds of work: the root of k r + c B k^2 / 2 = s, in the form that is accurate for small c. */
  #stepsIn(seconds: number): number {
    if (this.batch === 0) return 0;
    const rate = this.#rate();
    const curve = 2 * this.#law.perContextToken * this.batch * seconds;
    return (2 * seconds) / (rate + Math.sqrt(rate * rate + curve));
  }

  #move(steps: number, now: number): void {
    const elapsed = now - this.time;
    if (this.batch > 0 && elapsed > 0) {
      this.busy += elapsed;
      this.sequenceSeconds += elapsed * this.batch;
    }
    this.steps += steps;
    this.context += steps * this.batch;
    this.tokens += steps * this.batch;
    this.versions += steps * this.version;
    this.time = now;
  }
}
