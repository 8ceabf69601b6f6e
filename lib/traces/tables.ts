import type { PlainTable } from "../report/index.ts";
import type { Grade } from "./hand.ts";
import type { Estimate, Measure, TraceMeasures } from "./measure.ts";

const NOTHING = "–";
/** Larger sizes have no decimals: a tenth is noise. */
const MANY = 1000;

type Show = (value: number) => string;
const percent: Show = (share) => (100 * share).toFixed(1);
const size: Show = (count) => count.toFixed(Math.abs(count) < MANY ? 1 : 0);
const signed =
  (show: Show): Show =>
  (value) => {
    const text = show(Math.abs(value));
    return `${Number(text) === 0 ? "" : value < 0 ? "−" : "+"}${text}`;
  };
const showOf = ({ percent: isShare }: Measure): Show => (isShare ? percent : size);

const cells = (estimate: Estimate | undefined, show: Show): string[] => {
  if (estimate === undefined) return [NOTHING, NOTHING];
  const { value, interval } = estimate;
  return [show(value), interval === undefined ? NOTHING : `${show(interval.low)} to ${show(interval.high)}`];
};

/**
 * One row per measure: each side with its interval and, for two sides, the difference. @param what names the
 * rows
 */
export function measureTable(
  what: string,
  measures: readonly Measure[],
  sides: readonly string[],
): PlainTable {
  const two = sides.length === 2;
  return {
    head: [what, ...sides.flatMap((name) => [name, "95 %"]), ...(two ? ["Δ", "95 %"] : [])],
    rows: measures.map((measure) => [
      measure.name,
      ...measure.sides.flatMap((estimate) => cells(estimate, showOf(measure))),
      ...(two ? cells(measure.difference, signed(showOf(measure))) : []),
    ]),
  };
}

/** One row per side: numbers of traces included and excluded. */
export function countsTable({ sides }: TraceMeasures): PlainTable {
  const total = (counts: Readonly<Record<string, number>>) =>
    Object.values(counts).reduce((a, b) => a + b, 0);
  return {
    head: ["", "traces", "problems", "steps", "unclassified", "outages", "unsplit", "passes agree, %", "κ"],
    rows: sides.map(({ name, traces, problems, steps, unclassified, outages, unsplit, agreement }) => [
      name,
      ...[traces, problems, steps, unclassified, total(outages), unsplit].map(String),
      agreement === undefined ? NOTHING : percent(agreement.share),
      kappaText(agreement?.kappa),
    ]),
  };
}

/** A table and its caption. */
export interface CaptionedTable {
  /** Base name of the table's files. */
  readonly name: string;
  readonly caption: string;
  readonly table: PlainTable;
}

/** Every table of one side or two. */
export function tracesTables(measures: TraceMeasures): CaptionedTable[] {
  const names = measures.sides.map(({ name }) => name);
  const table = (name: string, caption: string, what: string, rows: readonly Measure[]) => ({
    name,
    caption,
    table: measureTable(what, rows, names),
  });
  return [
    { name: "traces", caption: "What was read", table: countsTable(measures) },
    table("sizes", `Steps and ${measures.unit}`, "mean", measures.sizes),
    table("steps", "Share of the classified steps, %", "category", measures.ofSteps),
    table("lengths", `Share of the ${measures.unit} in classified steps, %`, "category", measures.ofLength),
  ];
}

const kappaText = (kappa: number | undefined): string => (kappa === undefined ? NOTHING : kappa.toFixed(3));
const share = (part: number | undefined): string => (part === undefined ? NOTHING : percent(part));

/** Results of a reader on traces labelled by hand: one row per set, then for each set one row per category. */
export function gradeTables(grades: readonly Grade[]): CaptionedTable[] {
  const rows = grades.map(({ set, traces, steps, labelled, agreement, ends, outages }) => [
    set,
    ...[traces, steps, labelled, outages].map(String),
    share(agreement?.share),
    kappaText(agreement?.kappa),
    share(ends.precision),
    share(ends.recall),
  ]);
  const head = ["set", "traces", "steps", "labelled", "outages", "accuracy, %", "κ"];
  const overall = { head: [...head, "ends: precision, %", "recall, %"], rows };
  return [
    { name: "grades", caption: "Against labels by hand", table: overall },
    ...grades.map(({ set, categories }) => ({
      name: `grades-${set.replaceAll(/\W+/g, "-")}`,
      caption: `By category: ${set}`,
      table: {
        head: ["category", "by hand", "given", "precision, %", "recall, %"],
        rows: categories.map(({ name, wanted, given, precision, recall }) => [
          name,
          String(wanted),
          String(given),
          share(precision),
          share(recall),
        ]),
      },
    })),
  ];
}
