import type { Rollout, Verdict } from "../../records.ts";
import { Channel } from "../../shared/async/channel.ts";
import type { GroupRollouts } from "./actor.ts";

/** Verdicts for rollouts, in their order. Rejects only when verification as a whole is lost. */
export type Judge = (rollouts: readonly Rollout[]) => Promise<readonly Verdict[]>;

export interface JudgedGroup extends GroupRollouts {
  readonly verdicts: readonly Verdict[];
}

/** Groups that wait for a verdict, for the watchdog and the queue metrics. */
export interface VerificationLoad {
  groups: number;
}

/**
 * Sends every group to its verifiers and yields it when its verdicts arrive, in order of completion. At most
 * `concurrency` calls, which may grow, run at a time; groups that arrive meanwhile are sent in one call, and so are
 * groups that arrive together, for instance from other processes: a busy pool gets few large messages, and an idle
 * one gets groups immediately.
 */
export function verifyGroups(
  groups: AsyncIterable<GroupRollouts>,
  judge: Judge,
  load: VerificationLoad,
  concurrency: () => number,
): AsyncGenerator<JudgedGroup, void, undefined> {
  const judged = new Channel<JudgedGroup>();
  const queue = new VerificationQueue(judge, judged, load, concurrency);
  void queue.serve(groups);
  return judged[Symbol.asyncIterator]();
}

class VerificationQueue {
  readonly #judge: Judge;
  readonly #judged: Channel<JudgedGroup>;
  readonly #load: VerificationLoad;
  readonly #concurrency: () => number;
  #waiting: GroupRollouts[] = [];
  #calls = 0;
  #isDue = false;
  #closing = false;

  constructor(judge: Judge, judged: Channel<JudgedGroup>, load: VerificationLoad, concurrency: () => number) {
    this.#judge = judge;
    this.#judged = judged;
    this.#load = load;
    this.#concurrency = concurrency;
  }

  async serve(groups: AsyncIterable<GroupRollouts>): Promise<void> {
    try {
      for await (const group of groups) {
        this.#waiting.push(group);
        this.#load.groups += 1;
        this.#callSoon();
      }
      this.#closing = true;
      this.#endIfIdle();
    } catch (error) {
      this.#judged.fail(error);
    }
  }

  /**
   * Runs after all pending promise callbacks, when all groups that came together have arrived. A virtual clock waits
   * for ticks only.
   */
  #callSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    process.nextTick(() => {
      this.#isDue = false;
      this.#call();
    });
  }

  #call(): void {
    if (this.#calls >= this.#concurrency() || this.#waiting.length === 0) return;
    const groups = this.#waiting;
    this.#waiting = [];
    this.#calls += 1;
    void this.#ask(groups);
  }

  async #ask(groups: readonly GroupRollouts[]): Promise<void> {
    try {
      this.#handOut(groups, await this.#judge(allRollouts(groups)));
    } catch (error) {
      this.#judged.fail(error);
    }
    this.#calls -= 1;
    this.#call();
    this.#endIfIdle();
  }

  #handOut(groups: readonly GroupRollouts[], verdicts: readonly Verdict[]): void {
    let first = 0;
    for (const group of groups) {
      const own = verdicts.slice(first, first + group.rollouts.length);
      first += group.rollouts.length;
      this.#load.groups -= 1;
      this.#judged.push({ request: group.request, rollouts: group.rollouts, verdicts: own });
    }
  }

  #endIfIdle(): void {
    if (this.#closing && this.#calls === 0 && this.#waiting.length === 0) this.#judged.end();
  }
}

/** A loop, since flatMap would make a call per group. */
function allRollouts(groups: readonly GroupRollouts[]): Rollout[] {
  const all: Rollout[] = [];
  for (const { rollouts } of groups) for (const rollout of rollouts) all.push(rollout);
  return all;
}
