import { flow, meanChange, textTable } from "../report/index.ts";
import {
  MEAN,
  type ResultDifference,
  type RunList,
  type RunRow,
  type RunsDifference,
} from "../runs/index.ts";
import { visibleText } from "../shared/text/visible-text.ts";

/** Fields shown of a recipe's differences; --json has all. */
const MOST_FIELDS = 4;
const NONE = "–";

/** Formats one line per run, followed by the fields in which its recipe differs from the other runs' recipes. */
export function runsText({ runs, unreadable }: RunList, columns: number): string {
  const head = ["run", "state", "steps", "score", "held out", "started"];
  const rows = runs.map((run) => [
    run.dir,
    run.state,
    run.ofSteps === undefined ? String(run.steps) : `${run.steps}/${run.ofSteps}`,
    run.score?.toFixed(3) ?? NONE,
    heldOut(run),
    run.startedAt.slice(0, 16).replace("T", " "),
  ]);
  const notes = runs.flatMap((run) => differences(run, columns));
  const bad = unreadable.map(({ dir, error }) => `${dir}: ${error}`);
  if (runs.length === 0 && bad.length === 0) return "no runs";
  const table = textTable({ head, rows }, columns);
  return visibleText([...table, ...section("recipes", notes), ...section("unreadable", bad)].join("\n"));
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", title, ...lines];

function heldOut({ before, after }: RunRow): string {
  if (before === undefined) return after === undefined ? NONE : `${NONE} -> ${after.mean.score.toFixed(3)}`;
  const worse = meanChange(before, after)?.is === "loss" ? " worse" : "";
  return `${before.mean.score.toFixed(3)} -> ${after?.mean.score.toFixed(3) ?? NONE}${worse}`;
}

function differences({ dir, differs }: RunRow, columns: number): string[] {
  const fields = Object.entries(differs);
  if (fields.length === 0) return [];
  const shown = fields.slice(0, MOST_FIELDS).map(([path, value]) => `${path}=${value}`);
  const more = fields.length > MOST_FIELDS ? [`and ${fields.length - MOST_FIELDS} more`] : [];
  return flow([`${dir}:`, ...shown, ...more], columns, "  ");
}

/**
 * Formats held-out results with their spread, training results over the last common steps, and the recipe
 * fields that differ.
 */
export function diffText(difference: RunsDifference, columns: number): string {
  const { a, b, recipe, results, training } = difference;
  const side = (runs: RunsDifference["a"]) =>
    `${runs[0]!.dir}${runs.length > 1 ? ` and ${runs.length - 1} more` : ""}: ${runs.map(sessionOf).join(", ")}`;
  const fields = recipe.map(
    ({ path, a: was, b: is }) => `  ${path}: ${was.join(" | ")} -> ${is.join(" | ")}`,
  );
  const trained =
    training === undefined
      ? []
      : [
          "",
          ...resultsTable(`training, steps ${training.from} to ${training.to}`, training.results, columns),
        ];
  const lines = [
    `A  ${side(a)}`,
    `B  ${side(b)}`,
    ...verdictLine(difference),
    "",
    ...heldOutTable([...a, ...b], results, columns),
    ...trained,
    "",
    ...(fields.length === 0 ? ["recipes: the same"] : ["recipes:", ...fields]),
  ];
  return visibleText(lines.join("\n"));
}

const sessionOf = ({ seed, state, steps, ofSteps }: RunsDifference["a"][number]): string =>
  `seed ${seed} ${state}${steps === ofSteps ? "" : ` at step ${steps}${ofSteps === undefined ? "" : ` of ${ofSteps}`}`}`;

/** Held-out results of both runs, or a sentence that names the run without any, in place of a column of dashes. */
function heldOutTable(
  runs: RunsDifference["a"],
  results: readonly ResultDifference[],
  columns: number,
): string[] {
  const without = runs.filter(({ after }) => after === undefined);
  if (results.length === 0) return ["no run of either side was evaluated after training"];
  const note = `${without.map(({ dir }) => dir).join(", ")}: not evaluated after training`;
  const isOneSided = results.every(({ difference }) => difference === undefined);
  if (isOneSided) return [note];
  return [...resultsTable("held out, after", results, columns), ...(without.length > 0 ? [note] : [])];
}

const resultsTable = (title: string, results: readonly ResultDifference[], columns: number): string[] =>
  textTable(
    {
      head: [title, "A", "B", "B - A", ""],
      rows: results.map((result) => [
        `${result.measure} ${result.domain}`,
        value(result, "a"),
        value(result, "b"),
        change(result),
        result.is ?? "",
      ]),
    },
    columns,
  );

/** States whether the scores differ, by the strongest evidence: held-out results, or else training scores. */
function verdictLine({ results, training }: RunsDifference): string[] {
  const isScore = ({ measure, domain, difference }: ResultDifference) =>
    measure === "score" && domain === MEAN && difference !== undefined;
  const heldOut = results.find(isScore);
  const one = heldOut ?? training?.results.find(isScore);
  if (one?.is === undefined) return [];
  const where = heldOut ? "held out, after training" : "in training";
  const word = one.is === "noise" ? "no difference beyond noise" : `B is ${one.is}`;
  return ["", `score ${where}: ${change(one)}: ${word}`];
}

const digits = ({ measure }: Pick<ResultDifference, "measure">): number => (measure === "meanTokens" ? 1 : 3);

function value(result: ResultDifference, side: "a" | "b"): string {
  const spread = result[side];
  if (spread === undefined) return NONE;
  const mean = spread.mean.toFixed(digits(result));
  return spread.deviation === undefined
    ? mean
    : `${mean} ±${spread.deviation.toFixed(digits(result))} (${spread.n})`;
}

/** Decimal places: as many as show a digit of a difference beyond noise, which otherwise might read as 0. */
function placesOf(result: ResultDifference, mean: number): number {
  const least = digits(result);
  return result.is === "higher" || result.is === "lower"
    ? Math.max(least, Math.ceil(-Math.log10(Math.abs(mean))))
    : least;
}

function change(result: ResultDifference): string {
  const { difference, standardError } = result;
  if (difference === undefined) return NONE;
  const places = placesOf(result, difference.mean);
  const show = (n: number) => n.toFixed(places);
  const mean = `${difference.mean < 0 ? "" : "+"}${show(difference.mean)}`;
  const { interval } = difference;
  if (interval !== undefined) return `${mean} [${show(interval.low)}, ${show(interval.high)}]`;
  return standardError === undefined ? mean : `${mean} ±${show(standardError)}`;
}
