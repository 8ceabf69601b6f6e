import { HoneError } from "../errors.ts";
import type { TableFormat } from "../report/index.ts";
import { formatTable } from "../report/index.ts";
import { visibleText } from "../shared/text/visible-text.ts";
import type { EvaluationResults, Interval, Share, SuiteGaps, SuiteResult } from "../suites/index.ts";

export const percent = (share: number | undefined): string =>
  share === undefined ? "–" : (100 * share).toFixed(1);
export const tokens = (count: number | undefined): string =>
  count === undefined ? "–" : String(Math.round(count));
export const span = (interval: Interval | undefined, of: (end: number) => string): string =>
  interval === undefined ? "–" : `${of(interval.low)} to ${of(interval.high)}`;
const last = (byK: Readonly<Record<string, number>> | undefined): [string, number] | undefined =>
  Object.entries(byK ?? {}).at(-1);

/** Report of `hone eval`: one row per suite, then, if requested, its subjects and levels. */
export function resultsText(
  { suites }: EvaluationResults,
  by: readonly string[],
  format: TableFormat,
  columns: number,
): string {
  const head = ["suite", "problems", "accuracy", "± seeds", "95 % problems", "pass@k", "maj@k"];
  const more = ["tokens", "median", "correct", "wrong", "truncated", "no answer"];
  const rows = suites.map((suite) => [
    suite.suite,
    String(suite.problems),
    percent(suite.accuracy),
    percent(suite.deviation),
    span(suite.interval, percent),
    atK(last(suite.passAt)),
    atK(last(suite.majorityAt)),
    ...lengthCells(suite),
    percent(suite.truncated),
    percent(suite.missing),
  ]);
  const tables = [formatTable({ head: [...head, ...more], rows }, format, columns)];
  for (const suite of suites) {
    if (by.includes("subject")) tables.push(sharesText(suite, "subject", suite.subjects, format, columns));
    if (by.includes("level") && Object.keys(suite.levels).length > 0)
      tables.push(sharesText(suite, "level", suite.levels, format, columns));
  }
  return tables.join("\n\n");
}

const atK = (entry: [string, number] | undefined): string =>
  entry === undefined ? "–" : `${percent(entry[1])} @${entry[0]}`;

const lengthCells = (share: Share): string[] =>
  [share.meanTokens, share.medianTokens, share.correctTokens, share.wrongTokens].map(tokens);

function sharesText(
  { suite }: SuiteResult,
  what: string,
  shares: Readonly<Record<string, Share>>,
  format: TableFormat,
  columns: number,
): string {
  const head = [`${suite}, by ${what}`, "problems", "accuracy", "± seeds", "95 % problems", "tokens"];
  const rows = Object.entries(shares).map(([name, share]) => [
    name,
    String(share.problems),
    percent(share.accuracy),
    percent(share.deviation),
    span(share.interval, percent),
    tokens(share.meanTokens),
  ]);
  return formatTable({ head, rows }, format, columns);
}

/** Sentences about data that is missing from the results; empty if nothing is missing. */
export function warningsOf({ suites, empty, outages }: EvaluationResults): string[] {
  const told = [
    ...suites.flatMap(gapsText),
    ...empty.flatMap((gaps) => [...gapsText(gaps), `${gaps.suite}: no completion has a verdict`]),
    ...countsText(outages, "request(s) got no answer"),
  ];
  return told.map(visibleText);
}

const gapsText = ({ suite, absent, unscored, unasked }: SuiteGaps): string[] => [
  ...countsText(unasked, `problem(s) of ${suite} could not be prompted`),
  ...countsText(unscored, `completion(s) of ${suite} got no verdict`),
  ...(absent > 0 ? [`${absent} completion(s) of ${suite} are missing`] : []),
];

const countsText = (counts: Readonly<Record<string, number>>, what: string): string[] =>
  Object.entries(counts).map(([why, count]) => `${count} ${what}: ${why}`);

/**
 * Error for an incomplete evaluation: completions or verdicts, which a rerun can add, or a whole suite, none
 * of whose problems can be prompted.
 */
export function lackOf({ suites, empty }: EvaluationResults, dir: string): HoneError | undefined {
  const isOpen = ({ absent, unscored }: SuiteGaps) => absent > 0 || Object.keys(unscored).length > 0;
  if ([...suites, ...empty].some(isOpen))
    return new HoneError(
      "HONE_ERR_VERIFIER",
      `the evaluation in ${dir} is incomplete: answers or verdicts are missing`,
      {
        hint: "The existing answers are kept; repeat the command to request and judge the rest.",
      },
    );
  if (empty.length === 0) return undefined;
  const names = visibleText(empty.map(({ suite }) => suite).join(", "));
  return new HoneError("HONE_ERR_DATA", `no problem of ${names} fits this model`, {
    hint: "The warnings say why: a vocabulary without the words, or prompts longer than its positions.",
  });
}
