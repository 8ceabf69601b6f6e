import type { HeldOutAnswers } from "../evaluation/index.ts";
import type { CellResult, RunResult } from "./results.ts";
import { pairedSpread, type Spread, spreadOf } from "./spread.ts";

const EDGES = [0, 0.25, 0.5, 0.75] as const;
export const BIN_NAMES: readonly string[] = ["[0, 25)", "[25, 50)", "[50, 75)", "[75, 100]"];

/** A difficulty bin in two cells: differences are `b` minus `a`, seed by seed. */
export interface ConditionedBin {
  readonly bin: string;
  /** Number of its problems, over all seeds. */
  readonly problems: number;
  readonly accuracy: Pair;
  /** Mean tokens of right answers, and of all other answers. */
  readonly correct: Pair;
  readonly incorrect: Pair;
}

export interface Pair {
  readonly a: Spread | undefined;
  readonly b: Spread | undefined;
  readonly difference: Spread | undefined;
}

/**
 * Accuracy, and tokens of right and of wrong answers apart, by how often the weights that training started from solved
 * the problem. Neither cell chooses the bins, so that neither is flattered by its own luck.
 * Source: Apriel-Reasoner, appendix on solve-rate-conditioned lengths, which bins by one of the two compared models.
 */
export function conditioned(a: CellResult, b: CellResult): ConditionedBin[] {
  const seeds = a.runs.flatMap((run) => {
    const other = b.runs.find(({ seed }) => seed === run.seed);
    return other === undefined ? [] : [{ seed: run.seed, bins: binsOf(run.before), a: run, b: other }];
  });
  return BIN_NAMES.map((bin, k) => {
    const pair = (of: (answers: readonly HeldOutAnswers[]) => number | undefined): Pair => {
      const side = (which: "a" | "b") =>
        new Map(
          seeds.flatMap(({ seed, bins, [which]: run }) => {
            const value = of(inBin(run, bins[k]!));
            return value === undefined ? [] : [[seed, value] as const];
          }),
        );
      const [left, right] = [side("a"), side("b")];
      return { a: spread(left), b: spread(right), difference: pairedSpread(left, right) };
    };
    return {
      bin,
      problems: seeds.reduce((sum, { bins }) => sum + bins[k]!.size, 0),
      accuracy: pair(accuracy),
      correct: pair((answers) => meanTokens(answers, true)),
      incorrect: pair((answers) => meanTokens(answers, false)),
    };
  });
}

const spread = (values: ReadonlyMap<number, number>) => spreadOf([...values.values()]);

/** Ids of the problems by their solve rate: [0, .25), [.25, .5), [.5, .75), [.75, 1]. */
function binsOf(answers: readonly HeldOutAnswers[]): ReadonlySet<string>[] {
  const bins = EDGES.map(() => new Set<string>());
  for (const { id, domain, set, correct } of answers) {
    if (set !== undefined) continue; // validation sets are in no mean: only domains count
    const solved = correct.filter(Boolean).length / correct.length;
    bins[Math.min(EDGES.length - 1, Math.floor(solved * EDGES.length))]!.add(`${domain} ${id}`);
  }
  return bins;
}

const inBin = ({ after }: RunResult, ids: ReadonlySet<string>) =>
  after.filter(({ domain, set, id }) => set === undefined && ids.has(`${domain} ${id}`));

function accuracy(answers: readonly HeldOutAnswers[]): number | undefined {
  return average(answers.flatMap(({ correct }) => correct.map(Number)));
}

function meanTokens(answers: readonly HeldOutAnswers[], right: boolean): number | undefined {
  return average(answers.flatMap(({ correct, tokens }) => tokens.filter((_, i) => correct[i] === right)));
}

const average = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
