import { joined, lowerBound, movingMean, smoothingWindow, thinned } from "./numbers.js";

/** @import { Page } from "./page.js" */
/** @import { RunInfo } from "../wire.ts" */

/**
 * A line of a chart: a metric. `hue` picks a colour; the same index is the same domain on every chart.
 * @typedef {{ name: string, label: string, hue: number, right?: boolean }} ChartLine
 *
 * @typedef {object} ChartSpec
 * @property {string} id
 * @property {string} title
 * @property {string} note what is drawn and how to read it
 * @property {string} unit as docs/reference/metrics.md names it
 * @property {string} [rightUnit] of the lines at the right axis
 * @property {[number, number]} [range] of the values, where it is fixed
 * @property {string} [quiet] said where every value in sight is 0
 * @property {boolean} [stacked]
 * @property {number} [absent] value of a line at a step that does not name it
 * @property {ChartLine[]} lines
 *
 * `rare`: most steps have no value, so that points say more than the line between them. `means`: of a smoothed line, of all
 * steps of the run, not only those in sight.
 * @typedef {{ run: number, line: ChartLine, values: readonly (number | null)[], faint: boolean, rare: boolean, means?: readonly (number | null)[] }} Drawn
 */

/** A line with values at fewer than this fraction of the steps is rare. */
const RARE = 1 / 3;

/** Runs that a chart draws: only one if its lines are stacked. @param {Page} page @param {ChartSpec} spec @returns {RunInfo[]} */
export function chartRuns(page, { stacked }) {
  const runs = page.visibleRuns();
  return stacked ? runs.slice(0, 1) : runs;
}

/**
 * The chart's data from the loaded columns, with as many points as fit its pixels.
 * @param {Page} page @param {ChartSpec} spec @param {number} width
 */
export function chartData(page, spec, width) {
  const tables = chartRuns(page, spec).map((info) => drawnOf(page, spec, info));
  const thin = tables.map(({ x, drawn }) => {
    const columns = drawn.map(({ values }) => values);
    return thinned(x, spec.stacked ? stackedUp(columns) : columns, width);
  });
  return { drawn: tables.flatMap(({ drawn }) => drawn), ...joined(thin) };
}

/**
 * For one run: visible steps, the values of each line, and the smoothed values if smoothing is on.
 * @param {Page} page @param {ChartSpec} spec @param {RunInfo} info
 */
function drawnOf({ store, view }, { lines, stacked, absent }, { run }) {
  const steps = store.steps(run);
  const window = view.smoothing === 0 ? smoothingWindow(steps.length) : view.smoothing;
  const [from, to] = view.range
    ? [lowerBound(steps, view.range[0] - 1), lowerBound(steps, view.range[1] + 2)]
    : [0, steps.length];
  /** @type {Drawn[]} */
  const drawn = [];
  for (const line of lines) {
    const named = store.column(run, line.name);
    if (named === undefined || named.every((value) => value === null)) continue;
    const column = absent === undefined ? named : named.map((value) => value ?? absent);
    const there = column.filter((value) => value !== null).length;
    const rare = there < RARE * steps.length && !stacked;
    const smooth = window > 1 && !stacked && !rare;
    drawn.push({ run, line, values: column.slice(from, to), faint: smooth, rare });
    if (!smooth) continue;
    const means = movingMean(column, window);
    drawn.push({ run, line, values: means.slice(from, to), faint: false, rare, means });
  }
  return { x: steps.slice(from, to), drawn };
}

/** @param {(readonly (number | null)[])[]} columns @returns {(readonly (number | null)[])[]} */
function stackedUp(columns) {
  /** @type {number[]} */
  const total = [];
  return columns.map((column) => column.map((value, i) => (total[i] = (total[i] ?? 0) + (value ?? 0))));
}
