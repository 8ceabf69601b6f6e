import { axisLabels } from "./format.js";

/** @import { Page } from "./page.js" */
/** @import { ChartLine, ChartSpec, Drawn } from "./chart-data.js" */
/** @import { default as UPlot, Axis, Options, Series } from "uplot" */

export const CHART_HEIGHT = 210;
/** Number of hues in the style sheet: as many as a step has stages. */
const HUES = 13;
const DASHES = [undefined, [6, 4], [2, 3], [9, 3, 2, 3]];
const STEP_INCREMENTS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000,
];
/** From a MiB on: tick values in bytes are powers of two. */
const BYTE_INCREMENTS = Array.from({ length: 24 }, (_, i) => 2 ** (20 + i));

/**
 * The chart's drawing options.
 * @param {Page} page @param {ChartSpec} spec @param {readonly Drawn[]} drawn
 * @returns {Omit<Options, "width" | "hooks" | "cursor">}
 */
export function plotLook(page, spec, drawn) {
  const right = spec.lines.some((line) => line.right);
  return {
    height: CHART_HEIGHT,
    legend: { show: false },
    padding: [10, right ? 4 : 12, 0, 0],
    scales: {
      x: { time: false },
      y: { range: (_u, low, high) => spec.range ?? fitted(low, high, spec.unit) },
      ...(right && {
        right: {
          range: (/** @type {UPlot} */ _u, /** @type {number} */ low, /** @type {number} */ high) =>
            fitted(low, high, spec.rightUnit ?? ""),
        },
      }),
    },
    axes: axesOf(spec, right),
    series: [{}, ...drawn.map((one) => seriesOf(page, spec, one, faintness(drawn)))],
    bands: spec.stacked
      ? drawn.slice(1).map((_, i) => ({ series: /** @type {[number, number]} */ ([i + 2, i + 1]) }))
      : [],
  };
}

/** @param {ChartSpec} spec @param {boolean} right @returns {Axis[]} */
function axesOf(spec, right) {
  const axis = {
    stroke: () => colour("--muted"),
    font: `12px ${colour("--font")}`,
    ticks: { show: false },
  };
  /** @param {string} unit @returns {Axis} */
  const values = (unit) => ({
    ...axis,
    gap: 8,
    space: 36,
    ...(unit === "bytes" && { incrs: BYTE_INCREMENTS }),
    values: (_u, ticks) => axisLabels(ticks, unit),
  });
  return [
    { ...axis, size: 26, gap: 6, grid: { show: false }, space: 60, incrs: STEP_INCREMENTS },
    { ...values(spec.unit), size: 56, grid: { stroke: () => colour("--grid"), width: 1 } },
    ...(right
      ? [
          {
            ...values(spec.rightUnit ?? ""),
            scale: "right",
            side: /** @type {const} */ (1),
            size: 50,
            grid: { show: false },
          },
        ]
      : []),
  ];
}

/** Opacity of single-step lines, so that many overlapping ones do not hide their means. @param {readonly Drawn[]} drawn */
const faintness = (drawn) => Math.max(0.05, 0.22 / Math.max(1, drawn.filter(({ faint }) => faint).length));

/** @param {Page} page @param {ChartSpec} spec @param {Drawn} drawn @param {number} faintly @returns {Series} */
function seriesOf(page, spec, { line, run, faint, rare }, faintly) {
  const own = () => lineColour(page, spec, line, run);
  const stroke = () => withAlpha(own(), faint ? faintly : rare ? 0.35 : 1);
  const place = page.visibleRuns().findIndex((info) => info.run === run);
  const dash = DASHES[lineIsRun(page, spec) ? 0 : place % DASHES.length] ?? (line.right ? [3, 3] : undefined);
  return {
    label: line.label,
    scale: line.right ? "right" : "y",
    stroke,
    width: faint || spec.stacked ? 1 : 1.75,
    ...(dash && { dash }),
    ...(spec.stacked && { fill: () => withAlpha(lineColour(page, spec, line, run), 0.55) }),
    spanGaps: !faint,
    points: { show: rare || (page.store.steps(run).length < 3 && !faint), size: 6, stroke: own, fill: own },
  };
}

/** A chart of one metric colours lines by run; other charts colour them by metric. @param {Page} page @param {ChartSpec} spec */
export const lineIsRun = (page, { lines }) => lines.length === 1 && page.visibleRuns().length > 1;

/** @param {Page} page @param {ChartSpec} spec @param {ChartLine} line @param {number} run */
export const lineColour = (page, spec, line, run) => colour(hueName(lineIsRun(page, spec) ? run : line.hue));

/** Hue of the style sheet by index; the same index is the same run, or the same domain, everywhere. @param {number} index */
export const hueName = (index) => `--hue-${index % HUES}`;

/** @param {string} name of the style sheet */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** @param {string} hex @param {number} alpha */
export const withAlpha = (hex, alpha) =>
  hex +
  Math.round(alpha * 255)
    .toString(16)
    .padStart(2, "0");

/**
 * Starts at zero, unless the values are far from it and the unit has no natural zero.
 * @param {number | null} low @param {number | null} high @param {string} unit @returns {[number, number]}
 */
function fitted(low, high, unit) {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  if (low === 0 && high === 0) return [0, 1];
  const zero = unit !== "–" || low < 0.5;
  const bottom = zero ? Math.min(0, low) : low;
  const pad = (high - bottom || Math.abs(high) || 1) * 0.08;
  return [zero && low >= 0 ? 0 : bottom - pad, high + pad];
}
