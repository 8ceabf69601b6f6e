import { HoneError } from "../errors.ts";
import type { TableFormat } from "../report/index.ts";
import { formatTable } from "../report/index.ts";
import type {
  Comparison,
  EvaluationResults,
  Interval,
  Share,
  ShownChange,
  SuiteGaps,
  SuiteResult,
} from "../suites/index.ts";
import { visibleText } from "../visible-text.ts";

const percent = (share: number | undefined): string => (share === undefined ? "–" : (100 * share).toFixed(1));
const tokens = (count: number | undefined): string => (count === undefined ? "–" : String(Math.round(count)));
const signed = (value: number, text: string): string => (value > 0 ? `+${text}` : text);
const span = (interval: Interval | undefined, of: (end: number) => string): string =>
  interval === undefined ? "–" : `${of(interval.low)} to ${of(interval.high)}`;
const last = (byK: Readonly<Record<string, number>> | undefined): [string, number] | undefined =>
  Object.entries(byK ?? {}).at(-1);

/** What `hone eval` prints: a row a suite, then, where they are asked for, its subjects and levels. */
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

/** What is in none of the numbers, in sentences; empty where nothing is. */
export function warningsOf({ suites, empty, outages }: EvaluationResults): string[] {
  const told = [
    ...suites.flatMap(gapsText),
    ...empty.flatMap((gaps) => [...gapsText(gaps), `${gaps.suite}: no completion has a verdict`]),
    ...countsText(outages, "request(s) got no answer"),
  ];
  return told.map(visibleText);
}

const gapsText = ({ suite, absent, unscored, unasked }: SuiteGaps): string[] => [
  ...countsText(unasked, `problem(s) of ${suite} could not be asked`),
  ...countsText(unscored, `completion(s) of ${suite} got no verdict`),
  ...(absent > 0 ? [`${absent} completion(s) of ${suite} are not there`] : []),
];

const countsText = (counts: Readonly<Record<string, number>>, what: string): string[] =>
  Object.entries(counts).map(([why, count]) => `${count} ${what}: ${why}`);

/** What an evaluation lacks: completions or verdicts, which can be had, or all of a suite, which cannot be asked. */
export function lackOf({ suites, empty }: EvaluationResults, dir: string): HoneError | undefined {
  const isOpen = ({ absent, unscored }: SuiteGaps) => absent > 0 || Object.keys(unscored).length > 0;
  if ([...suites, ...empty].some(isOpen))
    return new HoneError("HONE_ERR_VERIFIER", `${dir} is not whole`, {
      hint: "What is there is kept; the same command asks and judges the rest.",
    });
  if (empty.length === 0) return undefined;
  const names = visibleText(empty.map(({ suite }) => suite).join(", "));
  return new HoneError("HONE_ERR_DATA", `no problem of ${names} can be asked of this model`, {
    hint: "The warnings say why: a vocabulary without the words, or prompts longer than its positions.",
  });
}

/** What `hone compare` prints. */
export function comparisonText(comparison: Comparison, format: TableFormat, columns: number): string {
  const { before, after, suites, lengths, changes } = comparison;
  const points = (value: number) => signed(value, percent(value));
  const wholes = (value: number) => signed(Math.round(value), tokens(value));
  const main = {
    head: [
      "suite",
      "problems",
      before,
      after,
      "Δ",
      "95 % paired",
      "won",
      "lost",
      "tokens",
      "Δ tokens",
      "95 % of it",
    ],
    rows: suites.map((one) => [
      one.suite,
      String(one.problems),
      percent(one.accuracy.before),
      percent(one.accuracy.after),
      points(one.difference),
      span(one.interval, points),
      String(one.won),
      String(one.lost),
      `${tokens(one.tokens.before)} -> ${tokens(one.tokens.after)}`,
      wholes(one.tokens.after - one.tokens.before),
      span(one.tokensInterval, wholes),
    ]),
  };
  const bins = {
    head: [`suite, by tokens of ${before}`, "from", "to", "problems", "accuracy", "tokens"],
    rows: lengths.map((bin) => [
      bin.suite,
      tokens(bin.from),
      tokens(bin.to),
      String(bin.problems),
      `${percent(bin.accuracy.before)} -> ${percent(bin.accuracy.after)}`,
      `${tokens(bin.tokens.before)} -> ${tokens(bin.tokens.after)}`,
    ]),
  };
  const tables = [main, bins].map((table) => formatTable(table, format, columns));
  if (format !== "text") return tables.join("\n\n");
  return [...tables, ...changes.map((change) => changeText(change, before, after))].join("\n\n");
}

/** What is on one side only, and so in none of the tables, in sentences. */
export function notesOf({ before, after, suites, alone }: Comparison): string[] {
  const told = suites.flatMap(({ suite, alone: only }) =>
    only.before + only.after === 0
      ? []
      : [
          `${suite}: of the problems, ${only.before} are answered in ${before} alone and ${only.after} in ${after} alone`,
        ],
  );
  return [...told, ...alone.map((suite) => `${suite}: no problem of it is answered in both`)].map(
    visibleText,
  );
}

const TEXT_CHARS = 600;

function changeText(change: ShownChange, before: string, after: string): string {
  const verb = change.after > change.before ? "won" : "lost";
  const head = `${verb}: ${change.suite}, ${change.subject} ${change.key.slice(0, 8)}, ${percent(change.before)} -> ${percent(change.after)}`;
  const part = (name: string, text: string) => `  ${name}: ${shortened(text)}`;
  const { texts, question } = change;
  return [head, part("asked", question), part(before, texts.before), part(after, texts.after)].join("\n");
}

/** Its beginning and its end, on lines that stand to the right. */
function shortened(text: string): string {
  const whole = text.length <= TEXT_CHARS;
  const kept = whole ? text : `${text.slice(0, TEXT_CHARS / 2)} [...] ${text.slice(-TEXT_CHARS / 2)}`;
  return visibleText(kept).trim().replaceAll("\n", "\n    ");
}
