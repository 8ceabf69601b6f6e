import { HoneError } from "../errors.ts";
import { modelFolders } from "./model-folders.ts";
import { readRecord } from "./record.ts";
import { judgedOf, type KeyedProblem } from "./results.ts";
import { passAtK } from "./statistics/pass-at-k.ts";
import { mean } from "./statistics/resampling.ts";

/** Fraction of groups in a training run that would have a learning signal, predicted from an evaluation of its model. */
export interface UsefulGroups {
  readonly suite: string;
  readonly problems: number;
  /** Smallest and largest number of judged answers of a problem. */
  readonly answers: readonly [number, number];
  /** Fractions of the problems with no right answer, and with right answers only. */
  readonly neverSolved: number;
  readonly alwaysSolved: number;
  /** Expected fraction of groups of `groupSize` answers of which some are right and some are not. */
  readonly useful: number;
  /** Problems with fewer answers than a group has; their part of `useful` is an estimate (`usefulShare`). */
  readonly estimated: number;
}

/**
 * The useful groups of each suite. Throws HONE_ERR_USAGE unless the text names one evaluation folder,
 * HONE_ERR_IO, HONE_ERR_FORMAT.
 */
export function usefulGroups(text: string, groupSize: number): UsefulGroups[] {
  const { dirs } = modelFolders(text);
  if (dirs.length > 1)
    throw new HoneError("HONE_ERR_USAGE", `${text} names ${dirs.length} evaluations`, {
      hint: "Name one evaluation: all groups of a run are sampled from one model.",
    });
  const record = readRecord(dirs[0]!);
  return [...record.suites.values()].flatMap((line) => {
    const { problems } = judgedOf(record, line);
    return problems.length === 0 ? [] : [ofSuite(line.suite, problems, groupSize)];
  });
}

function ofSuite(suite: string, problems: readonly KeyedProblem[], groupSize: number): UsefulGroups {
  const counts = problems.map(({ problem: { answers } }) => ({
    n: answers.length,
    right: answers.filter(({ correct }) => correct).length,
  }));
  const fraction = (is: (count: (typeof counts)[number]) => boolean) =>
    mean(counts.map((c) => Number(is(c))));
  return {
    suite,
    problems: problems.length,
    answers: counts.reduce<[number, number]>(
      ([least, most], { n }) => [Math.min(least, n), Math.max(most, n)],
      [Number.POSITIVE_INFINITY, 0],
    ),
    neverSolved: fraction(({ right }) => right === 0),
    alwaysSolved: fraction(({ n, right }) => right === n),
    useful: mean(counts.map(({ n, right }) => usefulShare(n, right, groupSize))),
    estimated: counts.filter(({ n }) => n < groupSize).length,
  };
}

/**
 * Probability that `groupSize` answers to a problem are neither all right nor all wrong, of which n answers, `right` of
 * them right, are known. With as many answers as a group has: the fraction of their subsets, which is unbiased. With
 * fewer: 1 - E[s^G] - E[(1 - s)^G] for a solve rate s whose prior is uniform. Trusts 0 <= right <= n and n >= 1.
 */
export function usefulShare(n: number, right: number, groupSize: number): number {
  const wrong = n - right;
  if (n >= groupSize) return passAtK(n, right, groupSize) + passAtK(n, wrong, groupSize) - 1;
  return 1 - expectedPower(right, n, groupSize) - expectedPower(wrong, n, groupSize);
}

/** E[s^G] of the beta distribution with parameters k + 1 and n - k + 1. */
function expectedPower(k: number, n: number, groupSize: number): number {
  let power = 1;
  for (let i = 0; i < groupSize; i++) power *= (k + 1 + i) / (n + 2 + i);
  return power;
}
