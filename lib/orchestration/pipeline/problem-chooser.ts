import type { CurriculumFacts } from "../../metrics/index.ts";
import { CounterRandom } from "../../random.ts";
import type { Curriculum, ProblemHistory } from "../setup/index.ts";
import type { SettledGroup } from "./grouper.ts";

/** Separates the random choice among problems from every other draw of a run. */
const CHOICE_WORD = 0x43484f00;

/** State of a curriculum in a checkpoint: its draws, and [identity, draws, attempts, solve rate, step] of each problem drawn. */
export interface SavedChoices {
  readonly draws: number;
  readonly problems: readonly (readonly [string, number, number, number | null, number | null])[];
}

/** Keys the random draws of one domain's curriculum in a run. */
export interface ChoicePlace {
  readonly seed: number;
  /** Index of the domain in the recipe. */
  readonly ordinal: number;
}

interface Seen {
  draws: number;
  attempts: number;
  solveRate: number | undefined;
  /** Step at which the problem's last group settled. */
  last: number | undefined;
}

/**
 * Chooses a domain's next problem in proportion to weights computed from the problems' histories. A draw is a
 * function of the seed, the number of earlier draws and the groups settled so far, in the order of their numbers; the
 * event log records the choice, so that a replay needs no curriculum. Does not choose a problem in the pipeline again
 * while another one is available. If every weight is 0, all problems have equal weights.
 */
export class ProblemChooser {
  readonly #curriculum: Curriculum;
  readonly #place: ChoicePlace;
  readonly #seen: Seen[];
  readonly #weights: Float64Array;
  readonly #inPipeline = new Set<number>();
  #settled: { readonly group: SettledGroup; readonly step: number }[] = [];
  #draws: number;
  #weighedAt = -1;

  /** @param outstanding indices of the groups in the pipeline, which a resumed run submits again */
  constructor(
    curriculum: Curriculum,
    place: ChoicePlace,
    saved: SavedChoices | undefined,
    outstanding: readonly number[],
  ) {
    this.#curriculum = curriculum;
    this.#place = place;
    const known = new Map(saved?.problems.map(([identity, ...seen]) => [identity, seen]));
    this.#seen = curriculum.identities.map((identity) => {
      const [draws = 0, attempts = 0, solveRate, last] = known.get(identity) ?? [];
      return { draws, attempts, solveRate: solveRate ?? undefined, last: last ?? undefined };
    });
    this.#weights = new Float64Array(this.#seen.length);
    this.#draws = saved?.draws ?? 0;
    for (const index of outstanding) this.#inPipeline.add(index % this.#seen.length);
  }

  /** Index of the next problem in its source. @param step the step that takes the next batch */
  next(step: number): number {
    this.#learn();
    if (step !== this.#weighedAt) for (const n of this.#seen.keys()) this.#weigh(n, step);
    this.#weighedAt = step;
    const { seed, ordinal } = this.#place;
    const at = new CounterRandom(seed, this.#draws, CHOICE_WORD + ordinal).next();
    this.#draws += 1;
    const isFree = (n: number) => !this.#inPipeline.has(n);
    const chosen =
      this.#pick(at, (n) => (isFree(n) ? this.#weights[n]! : 0)) ??
      this.#pick(at, (n) => (isFree(n) ? 1 : 0)) ??
      Math.floor(at * this.#seen.length);
    const seen = this.#seen[chosen]!;
    this.#inPipeline.add(chosen);
    seen.draws += 1;
    return (seen.draws - 1) * this.#seen.length + chosen;
  }

  /** A group of the domain has left the pipeline at this step. */
  settled(group: SettledGroup, step: number): void {
    this.#settled.push({ group, step });
  }

  saved(): SavedChoices {
    this.#learn();
    const { identities } = this.#curriculum;
    const problems = this.#seen.flatMap(({ draws, attempts, solveRate, last }, n) =>
      draws === 0 ? [] : [[identities[n]!, draws, attempts, solveRate ?? null, last ?? null] as const],
    );
    return { draws: this.#draws, problems };
  }

  facts(): CurriculumFacts {
    const rates = this.#seen.flatMap(({ solveRate }) => solveRate ?? []);
    const open = this.#weights.reduce((n, weight) => n + (weight > 0 ? 1 : 0), 0);
    return {
      seen: rates.length / this.#seen.length,
      open: open / this.#seen.length,
      solveRate: rates.length === 0 ? undefined : rates.reduce((sum, rate) => sum + rate, 0) / rates.length,
    };
  }

  /** Applies the groups settled since the last draw, by group number, regardless of the order in which they completed. */
  #learn(): void {
    const settled = this.#settled.sort((a, b) => a.group.request.group - b.group.request.group);
    this.#settled = [];
    for (const { group, step } of settled) {
      const n = group.request.index % this.#seen.length;
      this.#inPipeline.delete(n);
      const { rollouts, solveRate } = group.group;
      if (rollouts.length === 0) continue; // without a verdict the group carries no information about the problem
      const seen = this.#seen[n]!;
      const old = seen.solveRate ?? solveRate;
      seen.solveRate = old + this.#curriculum.smoothing * (solveRate - old);
      seen.attempts += rollouts.length;
      seen.last = step;
      if (this.#weighedAt >= 0) this.#weigh(n, this.#weighedAt);
    }
  }

  #weigh(n: number, step: number): void {
    this.#weights[n] = this.#curriculum.weigh(this.#historyOf(n, step));
  }

  #historyOf(n: number, step: number): ProblemHistory {
    const { identities, difficulties, easier } = this.#curriculum;
    const { attempts, solveRate, last } = this.#seen[n]!;
    const since = last === undefined ? undefined : step - last;
    const given = { identity: identities[n]!, difficulty: difficulties[n]!, easier: easier[n]! };
    return { ...given, attempts, solveRate, since, step };
  }

  /** The problem at a fraction of the sum of weights; undefined where all are 0. */
  #pick(at: number, weightOf: (n: number) => number): number | undefined {
    const count = this.#seen.length;
    let sum = 0;
    for (let n = 0; n < count; n++) sum += weightOf(n);
    let left = at * sum;
    let last: number | undefined;
    for (let n = 0; n < count; n++) {
      const weight = weightOf(n);
      if (weight <= 0) continue;
      if (left < weight) return n;
      left -= weight;
      last = n; // rounding may leave a remainder
    }
    return last;
  }
}
