import type { Problem } from "../records.ts";
import type { Draws } from "./answerer.ts";
import { drawKey, type EvaluationRecord, type RecordLine, type SuiteLine } from "./record.ts";
import { problemKey, type Suite } from "./suite.ts";

/** A problem of a suite. */
interface Place {
  readonly suite: Suite;
  readonly index: number;
}

export interface Wants {
  readonly seeds: readonly number[];
  /** Completions per problem and seed. Default 1. */
  readonly attempts?: number | undefined;
  /** Use only this many problems of every suite, from the first on. */
  readonly limit?: number | undefined;
}

/** The completions that an evaluation needs: every seed and attempt of every problem that can be asked. */
export class Wanted {
  readonly #places: readonly Place[];
  readonly #seeds: readonly number[];
  readonly #attempts: number;
  /** Why some problems are not asked, by index. */
  #refused: ReadonlyMap<number, string> = new Map();

  constructor(suites: readonly Suite[], { seeds, attempts = 1, limit = Number.POSITIVE_INFINITY }: Wants) {
    this.#seeds = seeds;
    this.#attempts = attempts;
    this.#places = suites.flatMap((suite) =>
      Array.from({ length: Math.min(suite.count, limit) }, (_, index) => ({ suite, index })),
    );
  }

  /** Every problem, in the order of the indices of {@link refuse}. */
  *problems(): Generator<Problem> {
    for (const { suite, index } of this.#places) yield suite.problem(index);
  }

  refuse(refused: ReadonlyMap<number, string>): void {
    this.#refused = refused;
  }

  /** Number of completions; a problem of two suites counts once. */
  get completions(): number {
    const problems = new Set<string>();
    for (const { suite, index } of this.#asked()) problems.add(problemKey(suite.problem(index)));
    return problems.size * this.#seeds.length * this.#attempts;
  }

  /** Completions that a record lacks, each once. */
  *missing(record: EvaluationRecord): Generator<{ readonly suite: Suite; readonly draws: Draws }> {
    const seen = new Set<string>();
    for (const { suite, index } of this.#asked()) {
      const problem = suite.problem(index);
      const key = problemKey(problem);
      if (seen.has(key)) continue;
      seen.add(key);
      for (let attempt = 0; attempt < this.#attempts; attempt++) {
        const seeds = this.#seeds.filter((seed) => !record.draws.has(drawKey(key, attempt, seed)));
        if (seeds.length > 0) yield { suite, draws: { problem, attempt, seeds } };
      }
    }
  }

  /** Lines of a suite that a record lacks: its problems, then its settings. */
  *lines(record: EvaluationRecord, suite: Suite): Generator<RecordLine> {
    const problems: string[] = [];
    for (const { index } of this.#asked(suite)) {
      const problem = suite.problem(index);
      const key = problemKey(problem);
      problems.push(key);
      if (!record.problems.has(key)) yield { problem: key, as: problem };
    }
    const { name, metric, levels, modules, answer } = suite;
    const line: SuiteLine = {
      suite: name,
      metric,
      levels,
      problems,
      unasked: this.#unasked(suite),
      seeds: this.#seeds,
      attempts: this.#attempts,
      tellsAnswers: answer !== undefined,
      modules,
    };
    if (JSON.stringify(record.suites.get(name)) !== JSON.stringify(line)) yield line;
  }

  *#asked(suite?: Suite): Generator<Place> {
    for (const [i, place] of this.#places.entries())
      if (!this.#refused.has(i) && (suite === undefined || place.suite === suite)) yield place;
  }

  #unasked(suite: Suite): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const [i, why] of this.#refused) {
      if (this.#places[i]!.suite === suite) counts[why] = (counts[why] ?? 0) + 1;
    }
    return counts;
  }
}
