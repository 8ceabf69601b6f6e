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
 * Has every group judged and yields it when its verdicts are in, whichever comes first. At most `concurrency` calls, which
 * may grow, are out at a time; what comes in meanwhile goes out in one, and so does what comes together, as groups of other
 * processes do by the dozen: a busy pool gets few large messages, and an idle one gets what there is at once.
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

  /** When no promise has anything left to do: by then all that came together is here. A virtual clock waits for ticks alone. */
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

/** By hand: flatMap takes a call into the engine for each of them. */
function allRollouts(groups: readonly GroupRollouts[]): Rollout[] {
  const all: Rollout[] = [];
  for (const { rollouts } of groups) for (const rollout of rollouts) all.push(rollout);
  return all;
}
