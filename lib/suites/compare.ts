import { type EvaluationRecord, type RecordLine, readManifest, readRecord } from "./record.ts";
import { judgedOf, type KeyedProblem } from "./results.ts";
import { type JudgedProblem, meanWorth } from "./statistics/measures.ts";
import { bootstrapInterval, type Interval, mean } from "./statistics/resampling.ts";
import type { Metric } from "./suite.ts";

/** A problem on which two models differ. */
export interface ChangedProblem {
  readonly suite: string;
  readonly key: string;
  readonly subject: string;
  /** Accuracy on it. */
  readonly before: number;
  readonly after: number;
}

/** What a change came to: the question and a completion of each side, one that shows it. */
export interface ShownChange extends ChangedProblem {
  readonly question: string;
  /** Of an episode with what its environment said in brackets. */
  readonly texts: { readonly before: string; readonly after: string };
}

/** Of one suite, over the problems that both answered. */
export interface SuiteComparison {
  readonly suite: string;
  readonly problems: number;
  readonly accuracy: { readonly before: number; readonly after: number };
  readonly difference: number;
  /** 95 %, paired bootstrap over problems. */
  readonly interval?: Interval | undefined;
  /** Problems on which the second is better, and worse. */
  readonly won: number;
  readonly lost: number;
  readonly tokens: { readonly before: number; readonly after: number };
  /** Of the difference in tokens, paired likewise. */
  readonly tokensInterval?: Interval | undefined;
}

/** Accuracy against length: problems by how many tokens the first takes for them. */
export interface LengthBin {
  readonly suite: string;
  /** Mean tokens of the first, from ... to. */
  readonly from: number;
  readonly to: number;
  readonly problems: number;
  readonly accuracy: { readonly before: number; readonly after: number };
  readonly tokens: { readonly before: number; readonly after: number };
}

export interface Comparison {
  readonly before: string;
  readonly after: string;
  readonly suites: readonly SuiteComparison[];
  readonly lengths: readonly LengthBin[];
  /** Most changed first, gains and losses in turns. */
  readonly changes: readonly ShownChange[];
  /** Suites that only one of them answered. */
  readonly alone: readonly string[];
}

const LENGTH_BINS = 4;

/**
 * Two evaluations side by side, problem by problem. @param shown how many changed problems come with their texts.
 * Throws HONE_ERR_IO, HONE_ERR_FORMAT.
 */
export function compareEvaluations(before: string, after: string, shown = 10): Comparison {
  const [a, b] = [readRecord(before), readRecord(after)];
  const both = [...a.suites.keys()].filter((suite) => b.suites.has(suite));
  const pairs = both.map((suite) => ({
    suite,
    metric: a.suites.get(suite)!.metric,
    pairs: pairsOf(a, b, suite),
  }));
  const known = pairs.filter((one) => one.pairs.length > 0);
  const changes = known.flatMap(({ suite, metric, pairs }) => changesOf(suite, metric, pairs));
  const all = new Set([...a.suites.keys(), ...b.suites.keys()]);
  return {
    before: readManifest(before).model,
    after: readManifest(after).model,
    suites: known.map(({ suite, metric, pairs }) => compareSuite(suite, metric, pairs)),
    lengths: known.flatMap(({ suite, metric, pairs }) => lengthBins(suite, metric, pairs)),
    changes: withTexts(before, after, mostChanged(changes, shown)),
    alone: [...all].filter((suite) => !known.some((one) => one.suite === suite)),
  };
}

interface Pair {
  readonly key: string;
  readonly a: JudgedProblem;
  readonly b: JudgedProblem;
}

function pairsOf(a: EvaluationRecord, b: EvaluationRecord, suite: string): Pair[] {
  const [first, second] = [a, b].map((record) => judgedOf(record, record.suites.get(suite)!).problems);
  const others = new Map((second as readonly KeyedProblem[]).map(({ key, problem }) => [key, problem]));
  return first!.flatMap(({ key, problem }) => {
    const other = others.get(key);
    return other === undefined ? [] : [{ key, a: problem, b: other }];
  });
}

const tokensOf = ({ answers }: JudgedProblem): number => mean(answers.map(({ tokens }) => tokens));

function sides(pairs: readonly Pair[], of: (problem: JudgedProblem) => number) {
  return { before: mean(pairs.map(({ a }) => of(a))), after: mean(pairs.map(({ b }) => of(b))) };
}

function compareSuite(suite: string, metric: Metric, pairs: readonly Pair[]): SuiteComparison {
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

/** Of each side a completion that shows the change: a right one of the better, one that is not right of the worse. */
function withTexts(before: string, after: string, changes: readonly ChangedProblem[]): ShownChange[] {
  const better = (change: ChangedProblem) => change.after > change.before;
  const a = textsOf(before, changes, (change) => !better(change));
  const b = textsOf(after, changes, better);
  return changes.map((change) => ({
    ...change,
    question: a.questions.get(change.key) ?? "",
    texts: { before: a.texts.get(change.key) ?? "", after: b.texts.get(change.key) ?? "" },
  }));
}

function textsOf(
  dir: string,
  changes: readonly ChangedProblem[],
  wantsRight: (change: ChangedProblem) => boolean,
) {
  const wanted = new Map(changes.map((change) => [change.key, wantsRight(change)]));
  const questions = new Map<string, string>();
  const texts = new Map<string, string>();
  const unjudged = new Map<string, { of: string; text: string; given?: readonly number[] }>();
  readRecord(dir, (line: RecordLine) => {
    if ("as" in line && wanted.has(line.problem)) questions.set(line.problem, line.as.question);
    if ("completion" in line && wanted.has(line.of)) unjudged.set(line.completion, line);
    if (!("verdict" in line)) return;
    const completion = unjudged.get(line.on);
    if (completion === undefined || texts.has(completion.of)) return;
    const isRight = line.verdict.status === "correct";
    if (line.verdict.status !== "unscored" && isRight === wanted.get(completion.of))
      texts.set(completion.of, bracketed(completion));
  });
  return { questions, texts };
}

/** A text with what its environment said in brackets. */
function bracketed({ text, given = [] }: { text: string; given?: readonly number[] }): string {
  const cuts = [0, ...given, text.length];
  const parts = cuts.slice(1).map((end, i) => text.slice(cuts[i], end));
  return parts.map((part, i) => (i % 2 === 0 ? part : `[${part}]`)).join("");
}
