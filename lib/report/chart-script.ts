/**
 * The page's own script, as text because it runs in a browser: reads the charts from the JSON block, draws each with
 * uPlot, and keeps colours, sizes and the legend's numbers in step with theme, window and cursor.
 */
export const CHART_SCRIPT = `"use strict";
const charts = JSON.parse(document.getElementById("charts").textContent);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const hue = (i) => color("--hue-" + (i % 7));
const withAlpha = (hex, alpha) => hex + Math.round(alpha * 255).toString(16).padStart(2, "0");
const significant = (v, n) => Number(v.toPrecision(n)).toString();
const thousands = (v) => (Math.abs(v) >= 1000 ? significant(v / 1000, 3) + "k" : significant(v, 3));
const SHOW = {
  fraction: (v) => significant(100 * v, 3) + " %",
  score: (v) => v.toFixed(2),
  tokens: (v) => v.toFixed(1),
  seconds: (v) => (v >= 1 ? significant(v, 3) + " s" : significant(1000 * v, 3) + " ms"),
  steps: (v) => significant(v, 3),
  nats: (v) => v.toFixed(3),
  "per-second": thousands,
  number: (v) => (Math.abs(v - 1) < 0.1 && v !== 1 ? v.toFixed(4) : significant(v, 3)),
};
// An axis shares one step size, so all its labels carry the decimals that this step needs.
const AXIS = (unit) => (u, ticks) => {
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : 1;
  const scaled = unit === "fraction" ? 100 * step : step;
  let digits = 0;
  while (digits < 5 && Math.abs(scaled * 10 ** digits - Math.round(scaled * 10 ** digits)) > 1e-6) digits += 1;
  if (unit === "per-second") return ticks.map(thousands);
  if (unit === "fraction") return ticks.map((v) => (100 * v).toFixed(digits) + " %");
  return ticks.map((v) => v.toFixed(digits) + (unit === "seconds" ? " s" : ""));
};

function stacked(series) {
  const total = series[0].values.map(() => 0);
  return series.map((s) => s.values.map((v, i) => (total[i] += v ?? 0)));
}

function options(chart, figure, width) {
  const stack = chart.kind === "stacked";
  const grid = () => ({ show: true, stroke: () => color("--grid"), width: 1 });
  const axis = { stroke: () => color("--muted"), font: "12px " + color("--font"), ticks: { show: false } };
  const line = (s, i) => ({
    label: s.label,
    stroke: () => withAlpha(hue(s.hue), s.look === "faint" ? 0.28 : s.look === "dashed" ? 0.75 : 1),
    width: s.look === "faint" || s.look === "dashed" ? 1 : stack ? 1 : 2,
    dash: s.look === "dashed" ? [5, 4] : undefined,
    fill: stack ? () => withAlpha(hue(s.hue), 0.55) : undefined,
    spanGaps: s.look !== "faint",
    points: { show: chart.x.length < 3 && s.look === undefined, size: 6 },
  });
  const order = chart.series.map((s, i) => i);
  if (stack) order.reverse(); // tallest sum first: a band fills from one series down to the next
  return {
    width, height: 220, legend: { show: false }, padding: [10, 12, 0, 0],
    cursor: { sync: { key: "step" }, drag: { x: true, y: false }, points: { size: 7 }, y: false },
    scales: {
      x: { time: false, range: (u, lo, hi) => (lo === hi ? [lo - 1, hi + 1] : [lo, hi]) },
      y: { range: chart.range ? () => chart.range : (u, lo, hi) => fit(lo, hi, chart) },
    },
    axes: [
      { ...axis, size: 26, gap: 6, grid: { show: false }, space: 60, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] },
      { ...axis, size: 56, gap: 8, grid: grid(), space: 38, values: AXIS(chart.unit) },
    ],
    series: [{}, ...order.map((i) => line(chart.series[i], i))],
    bands: stack ? order.slice(1).map((_, k) => ({ series: [k + 1, k + 2] })) : [],
    hooks: { setCursor: [(u) => showValues(figure, chart, u.cursor.idx)] },
  };
}

function fit(lo, hi, chart) {
  if (lo == null) return [0, 1];
  const zero = chart.unit !== "number" || lo < 0.5;
  const low = zero ? Math.min(0, lo) : lo;
  const pad = (hi - low || Math.abs(hi) || 1) * 0.08;
  return [zero && lo >= 0 ? 0 : low - pad, hi + pad];
}

function showValues(figure, chart, index) {
  const at = index ?? chart.x.length - 1;
  figure.querySelector(".at").textContent = "step " + chart.x[at];
  for (const item of figure.querySelectorAll("[data-series]")) {
    const value = chart.series[Number(item.dataset.series)].values[at];
    item.querySelector("b").textContent = value == null ? "–" : SHOW[chart.unit](value);
  }
}

const plots = charts.map((chart, c) => {
  const figure = document.getElementById("chart-" + c);
  const box = figure.querySelector(".plot");
  const stack = chart.kind === "stacked";
  const values = stack ? stacked(chart.series).reverse() : chart.series.map((s) => s.values);
  const plot = new uPlot(options(chart, figure, box.clientWidth), [chart.x, ...values], box);
  new ResizeObserver(() => {
    if (Math.abs(box.clientWidth - plot.width) > 1) plot.setSize({ width: box.clientWidth, height: 220 });
  }).observe(box);
  showValues(figure, chart, null);
  return plot;
});
const repaint = () => plots.forEach((plot) => plot.redraw(false, true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
`;
