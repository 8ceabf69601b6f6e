import type { JudgedProblem } from "./statistics/measures.ts";
import { mean } from "./statistics/resampling.ts";

/** A number for both models of a comparison. */
export interface Both<T> {
  readonly before: T;
  readonly after: T;
}

/** Problems that the first model solves about equally often, with both models' results. */
export interface SolveRateBin {
  readonly suite: string;
  /** Bin of the first model's solve rates, as fractions: [from, to), for the last bin [from, to]. */
  readonly from: number;
  readonly to: number;
  readonly problems: number;
  /** Mean over problems of the fraction of right answers; absent from a bin without problems. */
  readonly solved?: Both<number> | undefined;
  /** Mean tokens of all right answers in the bin, and of all other answers; undefined if there are none. */
  readonly correctTokens: Both<number | undefined>;
  readonly incorrectTokens: Both<number | undefined>;
}

/** Lower ends of the four bins of Apriel-Reasoner's table 5. */
const FROM: readonly number[] = [0, 0.25, 0.5, 0.75];

interface Pair {
  readonly a: JudgedProblem;
  readonly b: JudgedProblem;
}

/**
 * Accuracy and lengths of right and of wrong answers, by how often the first model solves a problem. The bins
 * depend on the first model's luck: among problems that it solved rarely, the second model tends to look
 * better than it is.
 * Source: Apriel-Reasoner, table 5.
 */
export function solveRateBins(suite: string, pairs: readonly Pair[]): SolveRateBin[] {
  return FROM.map((from, i) => {
    const to = FROM[i + 1] ?? 1;
    const isIn = (rate: number) => rate >= from && (rate < to || to === 1);
    const own = pairs.filter(({ a }) => isIn(solveRate(a)));
    return {
      suite,
      from,
      to,
      problems: own.length,
      solved: own.length === 0 ? undefined : ofBoth(own, (side) => mean(side.map(solveRate))),
      correctTokens: ofBoth(own, (side) => meanTokens(side, true)),
      incorrectTokens: ofBoth(own, (side) => meanTokens(side, false)),
    };
  });
}

const solveRate = ({ answers }: JudgedProblem): number => mean(answers.map(({ correct }) => Number(correct)));

function ofBoth<T>(pairs: readonly Pair[], of: (side: readonly JudgedProblem[]) => T): Both<T> {
  return { before: of(pairs.map(({ a }) => a)), after: of(pairs.map(({ b }) => b)) };
}

function meanTokens(problems: readonly JudgedProblem[], isCorrect: boolean): number | undefined {
  const chosen = problems.flatMap(({ answers }) => answers.filter(({ correct }) => correct === isCorrect));
  return chosen.length === 0 ? undefined : mean(chosen.map(({ tokens }) => tokens));
}
