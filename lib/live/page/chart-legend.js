import { chartRuns } from "./chart-data.js";
import { lineColour, lineIsRun } from "./chart-look.js";
import { marksAt } from "./chart-marks.js";
import { el } from "./dom.js";
import { show } from "./format.js";
import { lowerBound, nearest } from "./numbers.js";

/** @import { Page } from "./page.js" */
/** @import { ChartSpec, Drawn } from "./chart-data.js" */
/** @import { RunInfo } from "../wire.ts" */

/**
 * Numbers at the step nearest to the cursor, and what happened there; without a cursor, of each run's last. Of a smoothed
 * line the mean over the steps around comes first and the step's own number, which may be noise, after it.
 * @param {Page} page @param {ChartSpec} spec @param {readonly Drawn[]} drawn @param {number | undefined} cursor
 */
export function legendItems(page, spec, drawn, cursor) {
  const runs = chartRuns(page, spec);
  const stepsOf = (/** @type {RunInfo} */ { run }) => page.store.steps(run);
  const near = cursor === undefined ? [] : runs.map((info) => nearest(stepsOf(info), cursor));
  const at = nearest(
    /** @type {number[]} */ (near.filter((step) => step !== undefined)).sort((a, b) => a - b),
    cursor ?? 0,
  );
  const shown = new Map(runs.map((info) => [info.run, cursor === undefined ? stepsOf(info).at(-1) : at]));
  const steps = new Set([...shown.values()].filter((step) => step !== undefined));
  const label = steps.size === 0 ? "no step yet" : steps.size > 1 ? "last steps" : `step ${[...steps][0]}`;
  const marks = at === undefined ? [] : marksAt(runs, at);
  return [
    el("li", { className: "at" }, label),
    ...drawn.flatMap((one) => (one.faint ? [] : [legendItem(page, spec, one, shown.get(one.run))])),
    marks.length > 0 && el("li", { className: "mark" }, marks.join(" · ")),
  ];
}

/** @param {Page} page @param {ChartSpec} spec @param {Drawn} drawn @param {number | undefined} step */
function legendItem(page, spec, { line, run, means }, step) {
  const { store } = page;
  const row = step === undefined ? -1 : lowerBound(store.steps(run), step);
  const value =
    store.steps(run)[row] === step ? (store.column(run, line.name)?.[row] ?? spec.absent) : undefined;
  const unit = line.right ? (spec.rightUnit ?? "") : spec.unit;
  const ofRun = lineIsRun(page, spec) ? "" : `${line.label} · `;
  const name = chartRuns(page, spec).length > 1 ? `${ofRun}${page.runLabel(run)}` : line.label;
  const chip = el("span", { className: "chip" });
  chip.style.background = lineColour(page, spec, line, run);
  const none = value === null || value === undefined;
  return el(
    "li",
    { "data-metric": line.name, "data-run": run, title: none ? line.name : `${line.name} = ${value}` },
    chip,
    name,
    " ",
    el("b", {}, none ? "–" : show(means?.[row] ?? value, unit)),
    !none && means !== undefined && el("small", { title: "at this step alone" }, ` ${show(value, unit)}`),
  );
}
