import type { Metric } from "../suite.ts";
import { majorityAtK } from "./majority.ts";
import { passAtK } from "./pass-at-k.ts";
import { bootstrapInterval, deviation, type Interval, mean, median } from "./resampling.ts";

/** One judged completion. */
export interface Judged {
  readonly seed: number;
  readonly correct: boolean;
  /** Score in [0, 1]. */
  readonly score: number;
  readonly tokens: number;
  /** True if the token budget cut the completion. */
  readonly truncated: boolean;
  /** True if no answer was found in it. */
  readonly missing: boolean;
  /** Extracted answer, if the suite can extract one. */
  readonly answer: string | undefined;
}

/** A problem with the completions that have a verdict, at least one. */
export interface JudgedProblem {
  readonly subject: string;
  readonly level: number;
  readonly answers: readonly Judged[];
}

/** Measurements over all problems, or over a part of them. */
export interface Share {
  readonly problems: number;
  readonly answers: number;
  /** Mean over seeds of the mean over problems of the mean over attempts. */
  readonly accuracy: number;
  /** Sample standard deviation of the accuracy over seeds; absent for one seed. */
  readonly deviation?: number | undefined;
  /** 95 % confidence interval, by bootstrap over problems; absent for one problem. */
  readonly interval?: Interval | undefined;
  /** Mean of the verdicts' scores, which include partial credit. */
  readonly score: number;
  readonly meanTokens: number;
  readonly medianTokens: number;
  /** Mean tokens of the right answers, and of the others; absent if there are none. */
  readonly correctTokens?: number | undefined;
  readonly wrongTokens?: number | undefined;
  /** Fractions of the completions that were truncated, and of those without an answer. */
  readonly truncated: number;
  readonly missing: number;
}

export interface Measures extends Share {
  readonly seeds: readonly { readonly seed: number; readonly accuracy: number }[];
  /** Unbiased estimate of pass@k for each k: the mean over problems. */
  readonly passAt: Readonly<Record<string, number>>;
  /** Accuracy of a majority vote among k completions, for each k, if the suite can extract answers. */
  readonly majorityAt?: Readonly<Record<string, number>> | undefined;
  readonly subjects: Readonly<Record<string, Share>>;
  readonly levels: Readonly<Record<string, Share>>;
}

export interface Counting {
  readonly metric: Metric;
  /** Names of levels; empty if the suite has none. */
  readonly levels: readonly string[];
}

/** All measures of a suite, over at least one problem. */
export function measure(problems: readonly JudgedProblem[], { metric, levels }: Counting): Measures {
  const bySeed = perSeed(problems, metric);
  const by = (keyOf: (problem: JudgedProblem) => string) =>
    Object.fromEntries(
      [...grouped(problems, keyOf)].map(([key, part]) => [key, share(part, metric, perSeed(part, metric))]),
    );
  const votes = problems.some(({ answers }) => answers.some(({ answer }) => answer !== undefined));
  return {
    ...share(problems, metric, bySeed),
    seeds: [...bySeed].map(([seed, accuracy]) => ({ seed, accuracy })),
    passAt: atEachK(problems, ({ answers }, k) => passAtK(answers.length, rightOf(answers), k)),
    ...(votes && { majorityAt: atEachK(problems, majority) }),
    subjects: by(({ subject }) => subject),
    levels:
      levels.length === 0
        ? {}
        : inOrder(
            by(({ level }) => levels[level] ?? String(level)),
            levels,
          ),
  };
}

/** Names that are in the list in its order, then the others. */
function inOrder<T>(shares: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  const known = [...new Set([...names, ...Object.keys(shares)])];
  return Object.fromEntries(
    known.flatMap((name) => (name in shares ? [[name, shares[name]!] as const] : [])),
  );
}

const rightOf = (answers: readonly Judged[]): number => answers.filter(({ correct }) => correct).length;

/** Contribution of an answer to the accuracy. */
export const worth = ({ correct, score }: Pick<Judged, "correct" | "score">, metric: Metric): number =>
  metric === "score" ? score : Number(correct);

/** A problem's mean over its answers. */
export const meanWorth = ({ answers }: JudgedProblem, metric: Metric): number =>
  mean(answers.map((answer) => worth(answer, metric)));

function share(
  problems: readonly JudgedProblem[],
  metric: Metric,
  bySeed: ReadonlyMap<number, number>,
): Share {
  const answers = problems.flatMap((problem) => problem.answers);
  const tokens = (which: readonly Judged[]) => which.map((answer) => answer.tokens);
  const [right, others] = [true, false].map((is) => tokens(answers.filter(({ correct }) => correct === is)));
  const accuracies = [...bySeed.values()];
  return {
    problems: problems.length,
    answers: answers.length,
    accuracy: mean(accuracies),
    deviation: deviation(accuracies),
    interval: bootstrapInterval(problems.map((problem) => meanWorth(problem, metric))),
    score: mean(answers.map(({ score }) => score)),
    meanTokens: mean(tokens(answers)),
    medianTokens: median(tokens(answers)),
    correctTokens: right!.length === 0 ? undefined : mean(right!),
    wrongTokens: others!.length === 0 ? undefined : mean(others!),
    truncated: mean(answers.map(({ truncated }) => Number(truncated))),
    missing: mean(answers.map(({ missing }) => Number(missing))),
  };
}

/** Accuracy of each seed, ascending: over the problems that it has an answer to. */
function perSeed(problems: readonly JudgedProblem[], metric: Metric): Map<number, number> {
  const means = new Map<number, number[]>();
  for (const { answers, ...rest } of problems) {
    for (const [seed, own] of grouped(answers, (answer) => answer.seed)) {
      const all = means.get(seed) ?? [];
      all.push(meanWorth({ ...rest, answers: own }, metric));
      means.set(seed, all);
    }
  }
  return new Map([...means].sort(([a], [b]) => a - b).map(([seed, values]) => [seed, mean(values)]));
}

function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Means over the problems for k = 1, 2, 4, ... and for the number of answers that every problem has. */
function atEachK(
  problems: readonly JudgedProblem[],
  of: (problem: JudgedProblem, k: number) => number,
): Record<string, number> {
  const most = Math.min(...problems.map(({ answers }) => answers.length));
  const ks = [most];
  for (let k = 1; k < most; k *= 2) ks.push(k);
  return Object.fromEntries(
    ks.sort((a, b) => a - b).map((k) => [String(k), mean(problems.map((problem) => of(problem, k)))]),
  );
}

function majority({ answers }: JudgedProblem, k: number): number {
  const groups = grouped(answers, ({ answer }) => answer);
  const silent = groups.get(undefined)?.length ?? 0;
  groups.delete(undefined);
  const votes = [...groups.values()].map((group) => ({ count: group.length, right: rightOf(group) }));
  return majorityAtK(votes, silent, k);
}
