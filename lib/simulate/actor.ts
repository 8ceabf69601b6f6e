import { type Attempt, byAge, type SubmittedGroup } from "./attempt.ts";
import type { DecodeProgress } from "./decode-progress.ts";
import type { Machine } from "./machine.ts";
import { ParkedAttempts } from "./parked-attempts.ts";
import { Slots } from "./slots.ts";
import type { Timeline } from "./timeline.ts";

/** Callbacks of an actor. */
export interface ActorHost {
  /** Takes the oldest group that no engine has, if the group passes. */
  pull(passes: (group: SubmittedGroup) => boolean): SubmittedGroup | undefined;
  finished(attempt: Attempt): void;
  /** Called with the attempts that a failure of the engine lost; they wait for an engine again. */
  lost(attempts: readonly Attempt[]): void;
  /** Called when the engine begins (1) or ceases (-1) to have something to decode. */
  busy?: ((change: 1 | -1) => void) | undefined;
}

/**
 * One engine by the rules of csrc/engine: slots in order of submission; a group begins when a slot is free for one of
 * its attempts and its prompt fits. When keys and values run out, the youngest attempt's are moved to host memory,
 * and it resumes later where it was (the engine parks all of its group, and resumes immediately those that fit).
 */
export class Actor {
  preemptions = 0;
  /** Tokens sampled that failures lost. */
  wasted = 0;
  readonly #rates: Machine["actor"];
  readonly #timeline: Timeline;
  readonly #host: ActorHost;
  readonly #slots: Slots;
  readonly #parked = new ParkedAttempts();
  /** Number of the current plan; events that were planned before the last change have an older number. */
  #plan = 0;
  #toldBusy = false;
  /** Decode step at which the next planned event occurs: an attempt ends, or the cache is full. */
  #target = 0;
  #down = false;

  constructor(rates: Machine["actor"], timeline: Timeline, host: ActorHost) {
    this.#slots = new Slots(rates);
    this.#rates = rates;
    this.#timeline = timeline;
    this.#host = host;
  }

  get progress(): DecodeProgress {
    return this.#slots.progress;
  }

  get running(): number {
    return this.#slots.size;
  }

  /** True if the engine would begin a group whose prompt fits. */
  get hasRoom(): boolean {
    return !this.#down && this.#parked.size === 0 && !this.#slots.full;
  }

  /** Tokens sampled so far by unfinished attempts. */
  get tokensUnderWay(): number {
    this.#slots.advance(this.#timeline.seconds);
    return this.#parked.all.reduce((sum, { done }) => sum + done, this.#slots.tokens);
  }

  /** Checks the queue for new groups. */
  look(): void {
    this.#change(() => {});
  }

  /** Gives the engine new weights now. */
  update(version: number): void {
    this.#change(() => {
      this.progress.version = version;
      this.progress.pause(this.#rates.updatePause);
    });
  }

  /** Sets how many seconds of work pass per second. */
  setSpeed(speed: number): void {
    this.#slots.advance(this.#timeline.seconds);
    this.progress.speed = speed;
    this.#planNext();
  }

  /** Simulates a crash: loses work in progress, and begins nothing for `restart` seconds. */
  fail(restart: number): void {
    if (this.#down) return;
    this.#slots.advance(this.#timeline.seconds);
    const lost = [...this.#slots.loseAll(), ...this.#parked.takeAll()].sort(byAge);
    this.#down = true;
    this.#plan += 1;
    for (const attempt of lost) {
      this.wasted += attempt.done;
      attempt.startAgain();
      attempt.group.resident = 0;
    }
    this.#timeline.at(this.#timeline.seconds + restart, () => {
      this.#down = false;
      this.look();
    });
    this.#tell();
    this.#host.lost(lost);
  }

  #change(what: () => void): void {
    this.#slots.advance(this.#timeline.seconds);
    what();
    this.#fill();
    this.#planNext();
    this.#tell();
  }

  #tell(): void {
    const busy = this.running > 0;
    if (busy === this.#toldBusy) return;
    this.#toldBusy = busy;
    this.#host.busy?.(busy ? 1 : -1);
  }

  #planNext(): void {
    this.#plan += 1;
    const target = this.#slots.nextChange;
    if (target === undefined) return;
    this.#target = target;
    this.#timeline.at(this.progress.timeOf(target), this.#arrive, this.#plan);
  }

  readonly #ended = (attempt: Attempt): void => {
    attempt.endedAt = this.#timeline.seconds;
    this.#host.finished(attempt);
  };

  readonly #arrive = (plan: number): void => {
    if (plan !== this.#plan) return;
    this.#slots.reach(this.#target, this.#timeline.seconds);
    if (!this.#slots.endBy(this.#target, this.#ended)) this.#makeRoom();
    this.#fill();
    this.#planNext();
    this.#tell();
  };

  #makeRoom(): void {
    for (const attempt of this.#slots.makeRoom()) {
      this.progress.pause(attempt.done * this.#rates.swapPerToken);
      this.preemptions += 1;
      this.#parked.add(attempt);
    }
  }

  #fill(): void {
    if (this.#down) return;
    while (this.#parked.size > 0 && !this.#slots.full) {
      if (!this.#slots.takes(this.#parked.first!)) return;
      const attempt = this.#parked.takeFirst();
      this.progress.pause(attempt.done * this.#rates.swapPerToken);
      this.#slots.begin(attempt);
    }
    while (this.hasRoom) {
      const group = this.#host.pull((next) => this.#slots.fits(next));
      if (group === undefined) return;
      this.#beginGroup(group);
    }
  }

  #beginGroup({ attempts, outcome }: SubmittedGroup): void {
    this.progress.pause(outcome.promptTokens * this.#rates.prefillPerToken);
    for (const attempt of attempts)
      if (attempt.endedAt < 0)
        if (this.#slots.full) this.#parked.add(attempt);
        else this.#slots.begin(attempt);
  }
}
