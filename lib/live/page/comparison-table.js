import { el, table } from "./dom.js";
import { signed } from "./format.js";

/** @import { Page } from "./page.js" */
/** @import { ComparisonAnswer, ResultDifference, RunInfo } from "../wire.ts" */

const MEASURE_NAMES = { score: "score", solveRate: "solved", meanTokens: "tokens" };

/** A row: one number of every run, and its difference from the first. @typedef {(ResultDifference | undefined)[]} NumberRow */

/** Asks for visible runs side by side; null for one run. @param {Page} page @returns {Promise<ComparisonAnswer | null>} */
export async function askComparison(page) {
  const runs = page.visibleRuns();
  if (runs.length < 2 || page.connection.frozen) return null;
  const params = { run: runs.map(({ run }) => String(run)) };
  return /** @type {ComparisonAnswer | null} */ (await page.connection.ask("comparison", params));
}

/**
 * One table with a column per run, differences from the first run with their noise, and the differing recipe fields.
 * @param {Page} page @param {readonly RunInfo[]} runs @param {ComparisonAnswer} answer
 */
export function comparisonSection(page, runs, answer) {
  const names = runs.map(({ run }) => page.runLabel(run));
  const heldOut = rowsOfEach(answer.differences.map(({ results }) => results));
  const training = rowsOfEach(answer.differences.map(({ training }) => training?.results ?? []));
  const steps = answer.differences[0]?.training;
  const isNew = (/** @type {ResultDifference | undefined} */ one) => one?.difference !== undefined;
  return el(
    "section",
    { className: "comparison", "aria-label": "runs side by side" },
    el("h2", {}, "Side by side"),
    ...comparisonLines(page, runs, answer).map((line) => el("p", {}, line)),
    recipeDifferences(names, answer),
    heldOut.some((row) => row.some(isNew))
      ? numbersTable(names, heldOut, "Held out, after training")
      : el("p", { className: "muted" }, `Not evaluated after training: ${withoutEnd(names, heldOut)}.`),
    steps && numbersTable(names, training, `While training, steps ${steps.from} to ${steps.to}`),
    el(
      "p",
      { className: "muted note" },
      `Differences are from ${names[0]}, ± one standard error: held out of two independent sets of answers, while training from the spread of the steps, the last ones that all these runs have done. Within two standard errors a difference is called noise.`,
    ),
  );
}

/** A sentence a run about the number that decides. @param {Page} page @param {readonly RunInfo[]} runs @param {ComparisonAnswer} answer */
export function comparisonLines(page, runs, { differences, fields }) {
  const first = page.runLabel(runs[0]?.run ?? 0);
  const recipe =
    fields === 0 ? "same recipe" : `${fields} field${fields === 1 ? "" : "s"} of the recipe differ`;
  return differences.map(({ results, training }, i) => {
    const name = page.runLabel(runs[i + 1]?.run ?? 0);
    const of = (/** @type {readonly ResultDifference[]} */ list) =>
      list.find(({ measure, domain, difference }) => measure === "score" && domain === "mean" && difference);
    const heldOut = of(results);
    const one = heldOut ?? of(training?.results ?? []);
    if (one?.difference === undefined)
      return `${name} against ${first}: nothing that both have yet; ${recipe}.`;
    const where = heldOut
      ? "held out, after training"
      : `training, steps ${training?.from} to ${training?.to}`;
    return `${name} against ${first}: score ${signed(one.difference.mean, 3)} ± ${differenceError(one)} (${where}): ${differenceWords(one)}; ${recipe}.`;
  });
}

/** @param {ResultDifference} one */
const differenceError = ({ standardError }) => (standardError === undefined ? "?" : standardError.toFixed(3));

/** @param {ResultDifference} one */
const differenceWords = ({ is }) =>
  is === undefined ? "its noise is unknown" : is === "noise" ? "no difference beyond noise" : is;

/** A row a measure and domain, a column a run but the first. @param {readonly (readonly ResultDifference[])[]} lists @returns {NumberRow[]} */
function rowsOfEach(lists) {
  const key = (/** @type {ResultDifference} */ one) => `${one.measure} ${one.domain}`;
  const keys = [...new Set(lists.flatMap((list) => list.map(key)))];
  return keys.map((wanted) => lists.map((list) => list.find((one) => key(one) === wanted)));
}

/** @param {readonly string[]} names @param {readonly NumberRow[]} rows */
function withoutEnd(names, rows) {
  const has = (/** @type {number} */ i) =>
    rows.some((row) => (i === 0 ? row.some((one) => one?.a) : row[i - 1]?.b !== undefined));
  return names.filter((_, i) => !has(i)).join(", ");
}

/** @param {readonly string[]} names @param {readonly NumberRow[]} rows @param {string} caption */
function numbersTable(names, rows, caption) {
  const main = rows.filter((row) => row.some((one) => one?.measure === "score" || one?.domain === "mean"));
  return el("div", { className: "card" }, table(["", ...names], main.map(numberRow), caption));
}

/** @param {NumberRow} row @returns {(string | Node)[]} */
function numberRow(row) {
  const known = row.find((one) => one !== undefined);
  const measure = known?.measure ?? "score";
  const name = `${MEASURE_NAMES[measure]}, ${known?.domain}`;
  const digits = measure === "meanTokens" ? 1 : 3;
  const text = (/** @type {{ mean: number } | undefined} */ spread) => spread?.mean.toFixed(digits) ?? "–";
  const first = row.find((one) => one?.a !== undefined)?.a;
  return [name, text(first), ...row.map((one) => differenceCell(text(one?.b), one, digits))];
}

/** @param {string} value @param {ResultDifference | undefined} one @param {number} digits */
function differenceCell(value, one, digits) {
  if (one?.difference === undefined) return value;
  const { standardError, is } = one;
  const noise = standardError === undefined ? "" : ` ± ${standardError.toFixed(digits)}`;
  return el(
    "span",
    {},
    `${value} `,
    el(
      "small",
      { className: `difference ${is ?? ""}` },
      `${signed(one.difference.mean, digits)}${noise}${is === "noise" ? ", noise" : is === undefined ? "" : `, ${is}`}`,
    ),
  );
}

/** @param {readonly string[]} names @param {ComparisonAnswer} answer */
function recipeDifferences(names, { recipe, fields }) {
  if (fields === 0) return el("p", { className: "muted" }, "Same recipe, apart from name and seed.");
  return el(
    "div",
    { className: "card" },
    table(
      ["field", ...names],
      recipe.map(({ path, values }) => [path, ...values]),
      `Recipes: ${fields} field${fields === 1 ? "" : "s"} differ${fields === 1 ? "s" : ""}`,
    ),
    fields > recipe.length && el("p", { className: "muted" }, "The others are in Recipe."),
  );
}
