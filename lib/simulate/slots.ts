import type { Attempt, SubmittedGroup } from "./attempt.ts";
import { DecodeProgress } from "./decode-progress.ts";
import type { Machine } from "./machine.ts";
import { RunningAttempts } from "./running-attempts.ts";

/**
 * Tokens of memory that each running attempt has in reserve before another attempt gets keys and values, and
 * for which room is made at a time. The engine makes room page by page, to the same effect
 * (docs/how-to/simulate.md).
 */
const STRIDE = 128;

/** The slots of one engine and its keys and values: running attempts, their progress, and their memory. */
export class Slots {
  readonly progress: DecodeProgress;
  readonly #rates: Machine["actor"];
  readonly #running = new RunningAttempts();
  /** Tokens of keys and values in its memory. */
  #held = 0;

  constructor(rates: Machine["actor"]) {
    this.progress = new DecodeProgress(rates.decode);
    this.#rates = rates;
  }

  get size(): number {
    return this.#running.size;
  }

  get full(): boolean {
    return this.#running.size >= this.#rates.maxRunning;
  }

  /** Tokens sampled so far by the running attempts. */
  get tokens(): number {
    return this.#running.all.reduce((sum, attempt) => sum + attempt.doneBy(this.progress), 0);
  }

  advance(now: number): void {
    const before = this.progress.steps;
    this.progress.advance(now);
    this.#held += (this.progress.steps - before) * this.size;
  }

  reach(steps: number, now: number): void {
    this.#held += (steps - this.progress.steps) * this.size;
    this.progress.reach(steps, now);
  }

  /** The step in which an attempt ends or memory is full, whichever is first. Undefined if nothing runs. */
  get nextChange(): number | undefined {
    const { size } = this.#running;
    if (size === 0) return undefined;
    const room = size === 1 ? Number.POSITIVE_INFINITY : this.#free / size;
    return Math.min(this.#running.firstEnd, this.progress.steps + Math.max(0, room));
  }

  begin(attempt: Attempt): void {
    this.#held += this.#missing(attempt);
    attempt.group.resident += 1;
    attempt.begin(this.progress);
    this.#running.add(attempt);
  }

  /** Releases slots and memory of attempts that end by this step; returns whether there were any. */
  endBy(step: number, ended: (attempt: Attempt) => void): boolean {
    let any = false;
    while (this.size > 0 && this.#running.firstEnd <= step) {
      const attempt = this.#running.takeFirst();
      this.#giveUp(attempt);
      ended(attempt);
      any = true;
    }
    return any;
  }

  /**
   * Takes slots, keys and values from the youngest attempts until there is room, and returns these attempts.
   */
  makeRoom(): Attempt[] {
    const leaving: Attempt[] = [];
    while (this.size > 1 && this.#free < STRIDE * this.size) {
      const attempt = this.#running.takeYoungest();
      this.#giveUp(attempt);
      leaving.push(attempt);
    }
    return leaving;
  }

  /** Stops all attempts, frees their memory, and returns them. */
  loseAll(): Attempt[] {
    const lost = [...this.#running.all];
    for (const attempt of lost) attempt.leave(this.progress);
    this.#running.clear();
    this.#held = 0;
    return lost;
  }

  /** True if a previously begun attempt may resume. */
  takes(attempt: Attempt): boolean {
    const need = this.#missing(attempt);
    return this.size === 0 || need === 0 || need + STRIDE * this.size <= this.#free;
  }

  /** True if a group may begin. */
  fits({ outcome, left }: SubmittedGroup): boolean {
    const reserve = Math.min(left, this.#rates.maxRunning - this.size) + this.size;
    return this.size === 0 || outcome.promptTokens + STRIDE * reserve <= this.#free;
  }

  get #free(): number {
    return this.#rates.keyValueTokens - this.#held;
  }

  #missing({ done, group }: Attempt): number {
    return done + (group.resident === 0 ? group.outcome.promptTokens : 0);
  }

  #giveUp(attempt: Attempt): void {
    const { group } = attempt;
    attempt.leave(this.progress);
    group.resident -= 1;
    this.#held -= attempt.done + (group.resident === 0 ? group.outcome.promptTokens : 0);
  }
}
