import type { Answer } from "./answerer.ts";
import {
  type ModelFolders,
  pooledSuites,
  poolSuite,
  type RecordedFolder,
  type RecordedModel,
  readModel,
} from "./model-folders.ts";
import { type RecordLine, readRecord } from "./record.ts";
import { drawnCompletions } from "./results.ts";
import { type SolveRateBin, solveRateBins } from "./solve-rates.ts";
import { type JudgedProblem, meanWorth, worth } from "./statistics/measures.ts";
import { bootstrapInterval, type Interval, mean } from "./statistics/resampling.ts";
import type { Metric } from "./suite.ts";

/** A problem on which two models differ. */
export interface ChangedProblem {
  readonly suite: string;
  readonly key: string;
  readonly subject: string;
  /** Accuracy of each model on the problem. */
  readonly before: number;
  readonly after: number;
}

/** Example of a change: the question and a completion of each side that shows it. */
export interface ShownChange extends ChangedProblem {
  readonly question: string;
  /** A completion of each model; in an episode the environment's messages are in brackets. */
  readonly texts: { readonly before: string; readonly after: string };
}

/** Comparison of one suite, over the problems that both answered. */
export interface SuiteComparison {
  readonly suite: string;
  readonly problems: number;
  /** Problems for which only one side has a verdict: excluded from all numbers. */
  readonly alone: { readonly before: number; readonly after: number };
  readonly accuracy: { readonly before: number; readonly after: number };
  readonly difference: number;
  /** 95 % confidence interval of the difference, by paired bootstrap over problems. */
  readonly interval?: Interval | undefined;
  /** Numbers of problems on which the second model is better, and worse. */
  readonly won: number;
  readonly lost: number;
  readonly tokens: { readonly before: number; readonly after: number };
  /** 95 % confidence interval of the difference in tokens, by paired bootstrap over problems. */
  readonly tokensInterval?: Interval | undefined;
}

/** Accuracy by length: problems grouped by the tokens that the first model takes for them. */
export interface LengthBin {
  readonly suite: string;
  /** Mean tokens of the first model, from ... to. */
  readonly from: number;
  readonly to: number;
  readonly problems: number;
  readonly accuracy: { readonly before: number; readonly after: number };
  readonly tokens: { readonly before: number; readonly after: number };
}

/** Two evaluations of the same suites side by side. */
export interface Comparison {
  readonly before: string;
  readonly after: string;
  readonly suites: readonly SuiteComparison[];
  readonly lengths: readonly LengthBin[];
  /** Four bins a suite. */
  readonly solveRates: readonly SolveRateBin[];
  /** The most changed problems first, gains and losses in turns. */
  readonly changes: readonly ShownChange[];
  /** Suites without a problem that both models answered. */
  readonly alone: readonly string[];
}

const LENGTH_BINS = 4;

/**
 * Compares two models problem by problem, over the problems answered in all of their folders. A string names folders
 * as `modelFolders` reads it: `folder` or `name=folder,folder`.
 * @param shown number of changed problems to return with texts. Throws HONE_ERR_IO, HONE_ERR_FORMAT; HONE_ERR_USAGE
 * if a model's folders cannot be pooled.
 */
export function compareEvaluations(
  before: string | ModelFolders,
  after: string | ModelFolders,
  shown = 10,
): Comparison {
  const [a, b] = [readModel(before), readModel(after)];
  const [ofA, ofB] = [pooledSuites(a), pooledSuites(b)];
  const paired = ofA.filter((suite) => ofB.includes(suite)).map((suite) => pairsOf(a, b, suite));
  const known = paired.filter((one) => one.pairs.length > 0);
  const changes = known.flatMap(({ suite, metric, pairs }) => changesOf(suite, metric, pairs));
  const all = new Set(
    [a, b].flatMap(({ folders }) => folders.flatMap(({ record }) => [...record.suites.keys()])),
  );
  return {
    before: a.name,
    after: b.name,
    suites: known.map(({ suite, metric, pairs, alone }) => ({
      ...compareSuite(suite, metric, pairs),
      alone,
    })),
    lengths: known.flatMap(({ suite, metric, pairs }) => lengthBins(suite, metric, pairs)),
    solveRates: known.flatMap(({ suite, pairs }) => solveRateBins(suite, pairs)),
    changes: withTexts([a, b], mostChanged(changes, shown)),
    alone: [...all].filter((suite) => !known.some((one) => one.suite === suite)),
  };
}

interface Pair {
  readonly key: string;
  readonly a: JudgedProblem;
  readonly b: JudgedProblem;
}

interface PairedSuite {
  readonly suite: string;
  readonly metric: Metric;
  readonly pairs: readonly Pair[];
  readonly alone: SuiteComparison["alone"];
}

function pairsOf(a: RecordedModel, b: RecordedModel, suite: string): PairedSuite {
  const [first, second] = [poolSuite(a, suite), poolSuite(b, suite)];
  const others = new Map(second.problems.map(({ key, problem }) => [key, problem]));
  const pairs = first.problems.flatMap(({ key, problem }) => {
    const other = others.get(key);
    return other === undefined ? [] : [{ key, a: problem, b: other }];
  });
  const aloneOf = ({ problems, partial }: typeof first) => problems.length + partial - pairs.length;
  return { suite, metric: first.metric, pairs, alone: { before: aloneOf(first), after: aloneOf(second) } };
}

const tokensOf = ({ answers }: JudgedProblem): number => mean(answers.map(({ tokens }) => tokens));

function sides(pairs: readonly Pair[], of: (problem: JudgedProblem) => number) {
  return { before: mean(pairs.map(({ a }) => of(a))), after: mean(pairs.map(({ b }) => of(b))) };
}

function compareSuite(suite: string, metric: Metric, pairs: readonly Pair[]): Omit<SuiteComparison, "alone"> {
  const worth = (problem: JudgedProblem) => meanWorth(problem, metric);
  const differences = pairs.map(({ a, b }) => worth(b) - worth(a));
  return {
    suite,
    problems: pairs.length,
    accuracy: sides(pairs, worth),
    difference: mean(differences),
    interval: bootstrapInterval(differences),
    won: differences.filter((d) => d > 0).length,
    lost: differences.filter((d) => d < 0).length,
    tokens: sides(pairs, tokensOf),
    tokensInterval: bootstrapInterval(pairs.map(({ a, b }) => tokensOf(b) - tokensOf(a))),
  };
}

function lengthBins(suite: string, metric: Metric, pairs: readonly Pair[]): LengthBin[] {
  const sorted = pairs
    .map((pair) => ({ pair, tokens: tokensOf(pair.a) }))
    .sort((x, y) => x.tokens - y.tokens);
  const size = Math.ceil(sorted.length / LENGTH_BINS);
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, i) => {
    const bin = sorted.slice(i * size, (i + 1) * size);
    const own = bin.map(({ pair }) => pair);
    return {
      suite,
      from: bin[0]!.tokens,
      to: bin.at(-1)!.tokens,
      problems: bin.length,
      accuracy: sides(own, (problem) => meanWorth(problem, metric)),
      tokens: sides(own, tokensOf),
    };
  });
}

function changesOf(suite: string, metric: Metric, pairs: readonly Pair[]): ChangedProblem[] {
  return pairs.flatMap(({ key, a, b }) => {
    const [before, after] = [meanWorth(a, metric), meanWorth(b, metric)];
    return before === after ? [] : [{ suite, key, subject: a.subject, before, after }];
  });
}

/** Gains and losses in turns, the greatest first. */
function mostChanged(changes: readonly ChangedProblem[], count: number): ChangedProblem[] {
  const size = ({ before, after }: ChangedProblem) => Math.abs(after - before);
  const [won, lost] = [1, -1].map((sign) =>
    changes
      .filter(({ before, after }) => Math.sign(after - before) === sign)
      .sort((x, y) => size(y) - size(x)),
  );
  const turns = Array.from({ length: Math.max(won!.length, lost!.length) }, (_, i) => [won![i], lost![i]]);
  return turns
    .flat()
    .filter((change) => change !== undefined)
    .slice(0, count);
}

/** Adds a completion of each model that shows the change: the best of the better one, the worst of the worse one. */
function withTexts(
  [before, after]: readonly [RecordedModel, RecordedModel],
  changes: readonly ChangedProblem[],
): ShownChange[] {
  const isBetter = (change: ChangedProblem) => change.after > change.before;
  const a = textsOf(before, changes, (change) => !isBetter(change));
  const b = textsOf(after, changes, isBetter);
  return changes.map((change, i) => ({
    ...change,
    question: a.questions.get(change.key) ?? "",
    texts: { before: a.texts[i] ?? "", after: b.texts[i] ?? "" },
  }));
}

function textsOf(
  { folders }: RecordedModel,
  changes: readonly ChangedProblem[],
  wantsBest: (change: ChangedProblem) => boolean,
) {
  const chosen = changes.map((change) => extremeOf(folders, change, wantsBest(change) ? 1 : -1));
  const asked = new Set(changes.map(({ key }) => key));
  const questions = new Map<string, string>();
  const texts = new Map<string, string>();
  const placeOf = (dir: string, key: string) => JSON.stringify([dir, key]);
  const wanted = new Set(chosen.flatMap((one) => (one === undefined ? [] : [placeOf(one.dir, one.key)])));
  for (const { dir } of folders)
    readRecord(dir, (line: RecordLine) => {
      if ("as" in line && asked.has(line.problem)) questions.set(line.problem, line.as.question);
      if (!("completion" in line)) return;
      const place = placeOf(dir, line.completion);
      if (wanted.has(place)) texts.set(place, bracketed(line));
    });
  return { questions, texts: chosen.map((one) => one && texts.get(placeOf(one.dir, one.key))) };
}

/** Identifies a completion by its folder and its key in that folder, with its signed score. */
interface Extreme {
  readonly dir: string;
  readonly key: string;
  readonly worth: number;
}

/** The completion to a problem that is worth most (sign 1) or least (sign -1), the first of several. */
function extremeOf(
  folders: readonly RecordedFolder[],
  { suite, key }: ChangedProblem,
  sign: number,
): Extreme | undefined {
  let found: Extreme | undefined;
  for (const { dir, record } of folders) {
    const line = record.suites.get(suite)!;
    for (const { completion } of drawnCompletions(record, line, key)) {
      const verdict = completion?.verdict;
      if (verdict === undefined || verdict.status === "unscored") continue;
      const judged = { correct: verdict.status === "correct", score: verdict.score };
      const value = sign * worth(judged, line.metric);
      if (found === undefined || value > found.worth) found = { dir, key: completion!.key, worth: value };
    }
  }
  return found;
}

/** A text with its observations in brackets. */
function bracketed({ text, given = [] }: Pick<Answer, "text" | "given">): string {
  const cuts = [0, ...given, text.length];
  const parts = cuts.slice(1).map((end, i) => text.slice(cuts[i], end));
  return parts.map((part, i) => (i % 2 === 0 ? part : `[${part}]`)).join("");
}
