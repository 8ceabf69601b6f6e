import type { PlainTable } from "../report/index.ts";
import { type ConditionedBin, conditioned, type Pair } from "./conditioned.ts";
import { overSteps } from "./curves.ts";
import { type CellResult, domainsOf, MEAN, moreThan, over } from "./results.ts";
import { type Spread, spreadOf } from "./spread.ts";

const NOTHING = "–";
/** Lengths above this number of tokens are shown without decimals, since a tenth of a token is noise. */
const MANY_TOKENS = 1000;

const percent = (share: number): string => (100 * share).toFixed(1);
const tokens = (count: number): string => count.toFixed(Math.abs(count) < MANY_TOKENS ? 1 : 0);
const thousandths = (score: number): string => score.toFixed(3);
const signed = (show: (value: number) => string) => (value: number) => {
  const text = show(Math.abs(value));
  return `${Number(text) === 0 ? "" : value < 0 ? "−" : "+"}${text}`;
};

/** "75.0 ± 5.5": the mean and one standard deviation over seeds. */
function mean(spread: Spread | undefined, show: (value: number) => string, showDeviation = show): string {
  if (spread === undefined) return NOTHING;
  const { deviation } = spread;
  return `${show(spread.mean)}${deviation === undefined ? "" : ` ± ${showDeviation(deviation)}`}`;
}

const shown = (spread: Spread | undefined, show: (value: number) => string): string =>
  spread === undefined ? NOTHING : show(spread.mean);

/** "0.58 to 0.91", with a real minus sign. */
const range = (spread: Spread | undefined, show: (value: number) => string): string => {
  if (spread?.interval === undefined) return NOTHING;
  const end = (value: number) => show(value).replace("-", "−");
  return `${end(spread.interval.low)} to ${end(spread.interval.high)}`;
};

/** "+1.3": a difference without its interval, which has its own column. */
const only = (spread: Spread | undefined, show: (value: number) => string): string =>
  spread === undefined ? NOTHING : signed(show)(spread.mean);

/** One row per cell: score and tokens over the seeds, and their differences from the first cell's, seed by seed. */
export function overviewTable(cells: readonly CellResult[]): PlainTable {
  const base = cells[0]!;
  const difference = (cell: CellResult, measure: "score" | "meanTokens", show: (value: number) => string) => {
    if (cell === base) return ["", ""];
    const more = moreThan(base, cell, measure);
    return [only(more, show), range(more, signed(show))];
  };
  return {
    head: [
      "cell",
      "runs",
      "score",
      "95 %",
      "solved, %",
      "tokens",
      "95 %",
      "Δ score",
      "95 %",
      "Δ tokens",
      "95 %",
    ],
    rows: cells.map((cell) => [
      cell.name,
      String(cell.runs.length),
      mean(over(cell, "score"), thousandths),
      range(over(cell, "score"), thousandths),
      mean(over(cell, "solveRate"), percent),
      mean(over(cell, "meanTokens"), tokens),
      range(over(cell, "meanTokens"), tokens),
      ...difference(cell, "score", thousandths),
      ...difference(cell, "meanTokens", tokens),
    ]),
  };
}

/** Final fraction of a run's steps over which entropy and kept groups are averaged. */
const LAST = 0.2;

/** One row per cell: what its training was like. */
export function trainingTable(cells: readonly CellResult[]): PlainTable {
  const hundredths = (value: number) => value.toFixed(2);
  const columns = [
    ["entropy", "entropy/mean", LAST, hundredths],
    ["groups kept, %", "groups/kept", LAST, percent],
    ["tokens clipped, %", "clip/tokens", 1, percent],
    ["lag", "lag/mean", 1, hundredths],
    ["most lag", "lag/max", 1, hundredths],
    ["replayed, %", "replayed/share", 1, percent],
  ] as const;
  return {
    head: ["cell", ...columns.map(([name]) => name)],
    rows: cells.map((cell) => [
      cell.name,
      ...columns.map(([, metric, part, show]) => mean(overSteps(cell, metric, part), show)),
    ]),
  };
}

/** Accuracy (pass@1, %) with its spread and mean tokens, of all domains and of each; the first row is before training. */
export function domainTable(arms: readonly CellResult[]): PlainTable {
  const domains = [MEAN, ...domainsOf(arms)];
  const row = (name: string, cell: CellResult, when: "before" | "after") => [
    name,
    ...domains.flatMap((domain) => [
      mean(over(cell, "solveRate", domain, when), percent),
      shown(over(cell, "meanTokens", domain, when), tokens),
    ]),
  ];
  const first = arms.find(({ runs }) => runs.length > 0) ?? arms[0]!;
  return {
    head: ["", ...domains.flatMap((domain) => [`${domain} acc`, "tok"])],
    rows: [row("before training", first, "before"), ...arms.map((arm) => row(arm.name, arm, "after"))],
  };
}

/**
 * Lengths of `b` against those of `a` by difficulty, on right and on wrong answers. Differences are those of `b`
 * minus those of `a`.
 */
export function conditionedTable(a: CellResult, b: CellResult): PlainTable {
  const three = ({ a: left, b: right, difference }: Pair) => [
    mean(left, tokens),
    mean(right, tokens),
    difference === undefined ? NOTHING : mean(difference, signed(tokens), tokens),
  ];
  const row = ({ bin, problems, accuracy, correct, incorrect }: ConditionedBin) => [
    bin,
    String(problems),
    mean(accuracy.a, percent),
    mean(accuracy.b, percent),
    ...three(correct),
    ...three(incorrect),
  ];
  const lengths = (what: string) => [`${what} tok, ${a.name}`, b.name, "Δ"];
  return {
    head: ["solved before, %", "n", `acc, ${a.name}`, b.name, ...lengths("correct"), ...lengths("incorrect")],
    rows: conditioned(a, b).map(row),
  };
}

export type Stage = "completed" | "trained";

/** Configured and realized shares of the domains at the end of training, percent, and the mean absolute deviation in points. */
export function mixtureTable(arms: readonly CellResult[], stage: Stage): PlainTable {
  const domains = mixtureDomains(arms);
  const last = (cell: CellResult, metric: string) =>
    spreadOf(cell.runs.flatMap(({ steps }) => steps.at(-1)?.metrics[metric] ?? []));
  const target = (domain: string) => {
    const values = arms.map((arm) => last(arm, `mixture/target/${domain}`)?.mean);
    return values.find((value) => value !== undefined) ?? 0;
  };
  const two = (share: number) => (100 * share).toFixed(2);
  return {
    head: [`share of what was ${stage}, %`, "target", ...arms.map(({ name }) => name)],
    rows: [
      ...domains.map((domain) => [
        domain,
        two(target(domain)),
        ...arms.map((arm) => mean(last(arm, `mixture/${stage}/${domain}`), two)),
      ]),
      [
        "mean absolute deviation, points",
        "",
        ...arms.map((arm) => mean(last(arm, `mixture/${stage}/mad`), two)),
      ],
    ],
  };
}

/** Domains of the mixture, in the recipe's order. */
export function mixtureDomains(arms: readonly CellResult[]): string[] {
  const prefix = "mixture/target/";
  const steps = arms.flatMap(({ runs }) => runs.flatMap((run) => run.steps.slice(-1)));
  const names = steps.flatMap(({ metrics }) =>
    Object.keys(metrics).filter((name) => name.startsWith(prefix)),
  );
  return [...new Set(names)].map((name) => name.slice(prefix.length));
}
