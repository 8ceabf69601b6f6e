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
 * How far one engine is: every step gives each running sequence a token, so that the context grows by B a step and the
 * time of k steps is k r + c B k^2 / 2 with r = the law at the first of them. Steps are a real number here: whoever
 * wants a token waits for the moment at which its count is reached.
 */
export class DecodeProgress {
  /** Steps done since the run began. */
  steps = 0;
  /** The time at which `steps` were done; in the future during a pause. */
  time = 0;
  /** B and C. */
  batch = 0;
  context = 0;
  /** Sum over steps of the weight version they sampled with. */
  versions = 0;
  version = 0;
  /** Sampled: the sum of B over steps. */
  tokens = 0;
  /** Seconds with a sequence running, and the sum of B over seconds. */
  busy = 0;
  sequenceSeconds = 0;
  readonly #law: DecodeLaw;
  /** Seconds of work that go by in one: below 1 where something else has the cores. */
  #speed = 1;

  constructor(law: DecodeLaw) {
    this.#law = law;
  }

  /** To where it is at `now`. */
  advance(now: number): void {
    if (now > this.time) this.#move(this.#stepsIn((now - this.time) * this.#speed), now);
  }

  /** To a number of steps that is reached now, exactly. */
  reach(steps: number, now: number): void {
    this.#move(steps - this.steps, now);
    this.steps = steps;
  }

  /** When so many steps will be done if nothing changes. */
  timeOf(steps: number): number {
    const k = steps - this.steps;
    const { perContextToken } = this.#law;
    return this.time + (k * this.#rate() + (perContextToken * this.batch * k * k) / 2) / this.#speed;
  }

  /** Nothing is decoded for so long. Call it after `advance`. */
  pause(seconds: number): void {
    this.time += seconds;
    this.sequenceSeconds += seconds * this.batch;
    if (this.batch > 0) this.busy += seconds;
  }

  /** From now on. Call it after `advance`. */
  set speed(speed: number) {
    this.#speed = speed;
  }

  #rate(): number {
    const { fixed, perSequence, perContextToken } = this.#law;
    return fixed + perSequence * this.batch + perContextToken * this.context;
  }

  /** Of so many seconds of work: the root of k r + c B k^2 / 2 = s, in the form that loses no digits for small c. */
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
