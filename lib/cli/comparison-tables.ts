import type { TableFormat } from "../report/index.ts";
import { formatTable, type PlainTable } from "../report/table-formats.ts";
import { visibleText } from "../shared/text/visible-text.ts";
import type { Comparison, ModelSummary, ShownChange } from "../suites/index.ts";
import { percent, span, tokens } from "./evaluation-tables.ts";

/** A table of `hone compare`. */
export type ComparisonTable = "summary" | keyof typeof TABLE_OF;

export interface ComparisonView {
  readonly tables: readonly ComparisonTable[];
  readonly format: TableFormat;
  /** Width of the terminal, for format "text". */
  readonly columns: number;
}

/**
 * Formats the models side by side, then each comparison with the first model, and in format "text" the texts
 * of changed problems.
 */
export function comparisonText(
  models: readonly ModelSummary[],
  comparisons: readonly Comparison[],
  { tables, format, columns }: ComparisonView,
): string {
  const asked = TABLES.filter((name) => tables.includes(name));
  const summary = tables.includes("summary") ? [summaryTable(models)] : [];
  const parts = [
    summary,
    ...comparisons.map((comparison) => asked.map((name) => TABLE_OF[name](comparison))),
  ];
  const texts = parts.flatMap((own, i) => [
    ...own.map((table) => formatTable(table, format, columns)),
    ...(i === 0 || format !== "text" ? [] : changesText(comparisons[i - 1]!)),
  ]);
  return texts.join("\n\n");
}

const signed = (value: number, text: string): string => (value > 0 ? `+${text}` : text);
const points = (value: number): string => signed(value, percent(value));
const wholes = (value: number): string => signed(Math.round(value), tokens(value));

/** Accuracy as the Apriel-Reasoner paper prints it, with the deviation over seeds in brackets: 78.3 (2.8). */
function summaryTable(models: readonly ModelSummary[]): PlainTable {
  const suites = [...new Set(models.flatMap((model) => model.suites.map(({ suite }) => suite)))];
  return {
    head: ["model", ...suites.flatMap((suite) => [suite, "seeds", "tokens"])],
    rows: models.map(({ name, suites: own }) => [
      name,
      ...suites.flatMap((suite) => {
        const cell = own.find((one) => one.suite === suite);
        if (cell === undefined) return ["–", "–", "–"];
        const spread = cell.deviation === undefined ? "" : ` (${percent(cell.deviation)})`;
        return [`${percent(cell.accuracy)}${spread}`, String(cell.seeds), tokens(cell.tokens)];
      }),
    ]),
  };
}

function differenceTable({ before, after, suites }: Comparison): PlainTable {
  return {
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
}

function lengthTable({ before, lengths }: Comparison): PlainTable {
  return {
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
}

/**
 * Table 5 of the Apriel-Reasoner paper: solve rates in percent, tokens of right and of wrong answers with
 * their differences.
 */
function solveRateTable({ before, after, solveRates }: Comparison): PlainTable {
  const both = [before, after];
  const lengthsOf = (bin: { readonly before: number | undefined; readonly after: number | undefined }) => [
    tokens(bin.before),
    tokens(bin.after),
    bin.before === undefined || bin.after === undefined ? "–" : wholes(bin.after - bin.before),
  ];
  const lengthHead = (which: string) => [...both.map((name) => `${which} tokens, ${name}`), `Δ ${which}`];
  return {
    head: [
      `suite, by solve rate of ${before}`,
      "n",
      ...both.map((name) => `solved, ${name}`),
      ...lengthHead("right"),
      ...lengthHead("wrong"),
    ],
    rows: solveRates.map((bin) => [
      `${bin.suite} ${rangeText(bin.from, bin.to)}`,
      String(bin.problems),
      percent(bin.solved?.before),
      percent(bin.solved?.after),
      ...lengthsOf(bin.correctTokens),
      ...lengthsOf(bin.incorrectTokens),
    ]),
  };
}

/** The range in percent. Only the last range includes its upper end. */
const rangeText = (from: number, to: number): string => `[${100 * from}, ${100 * to}${to === 1 ? "]" : ")"}`;

const TABLE_OF = { difference: differenceTable, length: lengthTable, "solve-rate": solveRateTable } as const;
/** Tables in the order in which they are printed. */
const TABLES = Object.keys(TABLE_OF) as (keyof typeof TABLE_OF)[];

/** Sentences about problems and suites that only one side has and that the tables therefore leave out. */
export function notesOf({ before, after, suites, alone }: Comparison): string[] {
  const notes = suites.flatMap(({ suite, alone: only }) =>
    only.before + only.after === 0
      ? []
      : [
          `${suite}: ${only.before} problems are answered in ${before} only and ${only.after} in ${after} only`,
        ],
  );
  return [
    ...notes,
    ...alone.map((suite) => `${suite}: no problem of this suite is answered in both evaluations`),
  ].map(visibleText);
}

const TEXT_CHARS = 600;

const changesText = ({ changes, before, after }: Comparison): string[] =>
  changes.map((change) => changeText(change, before, after));

function changeText(change: ShownChange, before: string, after: string): string {
  const verb = change.after > change.before ? "won" : "lost";
  const head = `${verb}: ${change.suite}, ${change.subject} ${change.key.slice(0, 8)}, ${percent(change.before)} -> ${percent(change.after)}`;
  const part = (name: string, text: string) => `  ${name}: ${shortened(text)}`;
  const { texts, question } = change;
  return [head, part("asked", question), part(before, texts.before), part(after, texts.after)].join("\n");
}

/** Shortens a text to its beginning and its end, on right-aligned lines. */
function shortened(text: string): string {
  const whole = text.length <= TEXT_CHARS;
  const kept = whole ? text : `${text.slice(0, TEXT_CHARS / 2)} [...] ${text.slice(-TEXT_CHARS / 2)}`;
  return visibleText(kept).trim().replaceAll("\n", "\n    ");
}
