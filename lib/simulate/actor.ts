import { type Attempt, byAge, type SubmittedGroup } from "./attempt.ts";
import { DecodeProgress } from "./decode-progress.ts";
import type { Machine } from "./machine.ts";
import { RunningAttempts } from "./running-attempts.ts";
import type { Timeline } from "./timeline.ts";

/** What an actor takes from and gives to. */
export interface ActorDoor {
  /** The oldest group that no engine has, if it passes. */
  pull(passes: (group: SubmittedGroup) => boolean): SubmittedGroup | undefined;
  finished(attempt: Attempt): void;
  /** Attempts that an engine's failure lost: they wait again. */
  lost(attempts: readonly Attempt[]): void;
}

/**
 * Tokens that each running attempt has in reserve before another gets keys and values, and for which room is made at a
 * time. The engine does it page by page, in sixteenths of the moments and to the same effect (docs/simulate.md).
 */
const STRIDE = 128;

/**
 * One engine by the rules of csrc/engine: slots in order of submission; a group begins when a slot is free for one of
 * its attempts and its prompt fits; when keys and values run out, the youngest attempt's go to host memory, and it goes
 * on later where it was (the engine parks all of its group, and takes back at once those that fit).
 */
export class Actor {
  readonly progress: DecodeProgress;
  preemptions = 0;
  /** Tokens sampled that failures lost. */
  wasted = 0;
  readonly #rates: Machine["actor"];
  readonly #timeline: Timeline;
  readonly #door: ActorDoor;
  readonly #running = new RunningAttempts();
  /** Begun and without a slot, in order of submission. */
  #parked: Attempt[] = [];
  /** Tokens of keys and values in its memory. */
  #held = 0;
  /** Moments that were planned before something changed have another number. */
  #plan = 0;
  /** The step that the planned moment reaches. */
  #target = 0;
  #down = false;

  constructor(rates: Machine["actor"], timeline: Timeline, door: ActorDoor) {
    this.progress = new DecodeProgress(rates.decode);
    this.#rates = rates;
    this.#timeline = timeline;
    this.#door = door;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Whether it would begin a group whose prompt fits. */
  get hasRoom(): boolean {
    return !this.#down && this.#parked.length === 0 && this.#running.size < this.#rates.maxRunning;
  }

  /** Tokens sampled of what it is at. */
  get tokensUnderWay(): number {
    this.#advance();
    const running = this.#running.all.reduce((sum, attempt) => sum + attempt.doneBy(this.progress), 0);
    return this.#parked.reduce((sum, { done }) => sum + done, running);
  }

  /** There is something new in the queue. */
  look(): void {
    this.#change(() => {});
  }

  /** New weights come now. */
  update(version: number): void {
    this.#change(() => {
      this.progress.version = version;
      this.progress.pause(this.#rates.updatePause);
    });
  }

  /** A step of the trainer begins or ends. */
  besideStep(training: boolean): void {
    if (this.#rates.speedDuringStep === 1) return;
    this.#change(() => {
      this.progress.speed = training ? this.#rates.speedDuringStep : 1;
    });
  }

  /** It dies; what it was at is lost, and for so many seconds it begins nothing. */
  fail(restart: number): void {
    if (this.#down) return;
    this.#advance();
    const lost = [...this.#running.all, ...this.#parked].sort(byAge);
    for (const attempt of this.#running.all) attempt.leave(this.progress);
    this.#running.clear();
    this.#parked = [];
    this.#held = 0;
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
    this.#door.lost(lost);
  }

  #change(what: () => void): void {
    this.#advance();
    what();
    this.#fill();
    this.#planNext();
  }

  #advance(): void {
    const before = this.progress.steps;
    this.progress.advance(this.#timeline.seconds);
    this.#held += (this.progress.steps - before) * this.#running.size;
  }

  /** The next moment at which something changes by itself: an attempt ends, or memory is full. */
  #planNext(): void {
    this.#plan += 1;
    const { first, size } = this.#running;
    if (first === undefined) return;
    const { steps } = this.progress;
    const room = size === 1 ? Number.POSITIVE_INFINITY : (this.#rates.keyValueTokens - this.#held) / size;
    this.#target = Math.min(first.endStep, steps + Math.max(0, room));
    this.#timeline.at(this.progress.timeOf(this.#target), this.#arrive, this.#plan);
  }

  readonly #arrive = (plan: number): void => {
    if (plan !== this.#plan) return;
    const { progress } = this;
    this.#held += (this.#target - progress.steps) * this.#running.size;
    progress.reach(this.#target, this.#timeline.seconds);
    if (this.#running.first!.endStep > this.#target) this.#makeRoom();
    else this.#endAll();
    this.#fill();
    this.#planNext();
  };

  #endAll(): void {
    while (this.#running.size > 0 && this.#running.first!.endStep <= this.#target) {
      const attempt = this.#running.takeFirst();
      this.#giveUp(attempt);
      attempt.endedAt = this.#timeline.seconds;
      this.#door.finished(attempt);
    }
  }

  /** Neither a slot any more, nor keys and values. */
  #giveUp(attempt: Attempt): void {
    const { group } = attempt;
    attempt.leave(this.progress);
    group.resident -= 1;
    this.#held -= attempt.done + (group.resident === 0 ? group.outcome.promptTokens : 0);
  }

  /** The youngest lose their keys and values, and their slots. */
  #makeRoom(): void {
    while (this.#running.size > 1 && this.#free < STRIDE * this.#running.size) {
      const attempt = this.#running.takeYoungest();
      this.#giveUp(attempt);
      this.progress.pause(attempt.done * this.#rates.swapPerToken);
      this.preemptions += 1;
      const at = this.#parked.findIndex(({ order }) => order > attempt.order);
      this.#parked.splice(at < 0 ? this.#parked.length : at, 0, attempt);
    }
  }

  #fill(): void {
    if (this.#down) return;
    while (this.#parked.length > 0 && this.#running.size < this.#rates.maxRunning) {
      const attempt = this.#parked[0]!;
      const need = this.#missing(attempt);
      if (this.#running.size > 0 && need > 0 && need + STRIDE * this.#running.size > this.#free) return;
      this.#parked.shift();
      this.progress.pause(attempt.done * this.#rates.swapPerToken);
      this.#begin(attempt);
    }
    while (this.hasRoom) {
      const group = this.#door.pull((next) => this.#fits(next));
      if (group === undefined) return;
      this.#beginGroup(group);
    }
  }

  get #free(): number {
    return this.#rates.keyValueTokens - this.#held;
  }

  /** Tokens of keys and values that it needs before it can go on. */
  #missing({ done, group }: Attempt): number {
    return done + (group.resident === 0 ? group.outcome.promptTokens : 0);
  }

  #fits({ outcome, left }: SubmittedGroup): boolean {
    const { size } = this.#running;
    const reserve = Math.min(left, this.#rates.maxRunning - size) + size;
    return size === 0 || outcome.promptTokens + STRIDE * reserve <= this.#free;
  }

  #beginGroup(group: SubmittedGroup): void {
    const { promptTokens } = group.outcome;
    const waiting = group.attempts.filter(({ endedAt }) => endedAt < 0);
    this.progress.pause(promptTokens * this.#rates.prefillPerToken);
    for (const attempt of waiting)
      if (this.#running.size < this.#rates.maxRunning) this.#begin(attempt);
      else this.#parked.push(attempt);
  }

  #begin(attempt: Attempt): void {
    this.#held += this.#missing(attempt);
    attempt.group.resident += 1;
    attempt.begin(this.progress);
    this.#running.add(attempt);
  }
}
