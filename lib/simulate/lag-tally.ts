import type { SubmittedGroup } from "./attempt.ts";
import type { SimulatedRun, SimulatedStep } from "./run-facts.ts";

/** Counts the ages of trained data: differences between a step's weight version and the versions that sampled. */
export class LagTally {
  /** Lag of the most recent step. */
  ofStep: SimulatedStep["lag"] = { mean: 0, max: 0 };
  /** Rollouts by the lag of their first token. */
  readonly #counts: number[] = [];
  #tokens = 0;
  #tokenLags = 0;
  #submitted = 0;

  /** @param replayed groups that the step trains again: aged accordingly, and not bounded by their submission */
  step(groups: readonly SubmittedGroup[], version: number, replayed: readonly SubmittedGroup[] = []): void {
    let [rollouts, sum, max] = [0, 0, 0];
    for (const { request } of groups)
      this.#submitted = Math.max(this.#submitted, version - request.submittedVersion);
    for (const { attempts } of [...groups, ...replayed]) {
      for (const { firstVersion, versions, length } of attempts) {
        const lag = version - firstVersion;
        this.#counts[lag] = (this.#counts[lag] ?? 0) + 1;
        this.#tokens += length;
        this.#tokenLags += version * length - versions;
        rollouts += 1;
        sum += lag;
        max = Math.max(max, lag);
      }
    }
    this.ofStep = { mean: rollouts === 0 ? 0 : sum / rollouts, max };
  }

  get ofRun(): SimulatedRun["lag"] {
    const counts = Array.from(this.#counts, (count) => count ?? 0);
    const all = counts.reduce((sum, count) => sum + count, 0);
    const sum = counts.reduce((total, count, lag) => total + count * lag, 0);
    return {
      mean: all === 0 ? 0 : sum / all,
      token: this.#tokens === 0 ? 0 : this.#tokenLags / this.#tokens,
      p95: quantile(counts, 0.95 * all),
      max: Math.max(0, counts.length - 1),
      submitted: this.#submitted,
    };
  }
}

/** The smallest lag that this fraction does not exceed. */
function quantile(counts: readonly number[], rank: number): number {
  let below = 0;
  for (const [lag, count] of counts.entries()) {
    below += count;
    if (below >= rank) return lag;
  }
  return 0;
}
