import { hueName } from "./chart-look.js";
import { showMarkKey } from "./chart-marks.js";
import { el, fill } from "./dom.js";
import { SMOOTHING } from "./view.js";

/** @import { Page } from "./page.js" */

/**
 * Settings of all charts: smoothing, first and last step, runs.
 * @param {Page} page @returns {{ element: HTMLElement, update: () => void }} `update` is called after a change
 */
export function chartTools(page) {
  const { view } = page;
  const smoothing = el(
    "select",
    { id: "smoothing", onchange: () => (view.smoothing = Number(smoothing.value)) },
    ...SMOOTHING.map((steps) =>
      el(
        "option",
        { value: String(steps) },
        steps === 0 ? "by length of run" : steps === 1 ? "none" : `mean of ${steps} steps`,
      ),
    ),
  );
  const from = stepInput(page, "first step", 0);
  const to = stepInput(page, "last step", 1);
  const all = el("button", { type: "button", onclick: () => (view.range = null) }, "all steps");
  const runs = el("div", { className: "runs", role: "group", "aria-label": "runs" });
  const everyLine = el("input", {
    type: "checkbox",
    name: "everyLine",
    onchange: () => (view.everyLine = everyLine.checked),
  });
  const every = el("label", { className: "flag", hidden: true }, everyLine, "domains and every line");
  const marks = el("ul", { className: "marks", "aria-label": "legend of the marks" });
  /** @type {Map<number, ReturnType<typeof runSwitch>>} */
  const switches = new Map();
  const switchOf = (/** @type {number} */ run) => {
    const one = switches.get(run) ?? runSwitch(page, run);
    switches.set(run, one);
    one.update();
    return one.element;
  };
  const show = () => {
    showMarkKey(page, marks);
    smoothing.value = String(view.smoothing);
    for (const [end, input] of [from, to].entries())
      if (document.activeElement !== input) input.value = view.range ? String(view.range[end]) : "";
    all.disabled = view.range === null;
    everyLine.checked = view.everyLine;
    every.hidden = page.visibleRuns().length < 2;
    if (page.store.runs.length > 1) fill(runs, ...page.store.runs.map(({ run }) => switchOf(run)));
  };
  show();
  const tools = el(
    "div",
    { className: "tools" },
    el("label", { for: "smoothing" }, "Smoothing "),
    smoothing,
    el("span", { className: "range" }, el("label", {}, "Steps ", from), " to ", to, " ", all),
    runs,
    every,
    marks,
  );
  return { element: tools, update: show };
}

/** @param {Page} page @param {string} label @param {0 | 1} end */
function stepInput(page, label, end) {
  const input = el("input", {
    type: "number",
    min: "0",
    placeholder: end === 0 ? "first" : "last",
    "aria-label": label,
  });
  input.addEventListener("change", () => {
    const last = Math.max(0, ...page.visibleRuns().map(({ rows }) => rows));
    const range = /** @type {[number, number]} */ ([...(page.view.range ?? [0, last])]);
    range[end] = input.value === "" ? (end === 0 ? 0 : last) : Number(input.value);
    page.view.range = range;
  });
  return input;
}

/** @param {Page} page @param {number} run */
function runSwitch(page, run) {
  const dir = page.store.runs[run]?.dir ?? "";
  const chip = el("span", { className: "chip" });
  chip.style.background = `var(${hueName(run)})`;
  const box = el("input", { type: "checkbox", onchange: () => page.view.toggle(dir) });
  const label = el("span", {});
  const update = () => {
    box.checked = page.view.shows(dir);
    fill(label, page.runLabel(run));
  };
  return { element: el("label", { className: "run-switch", title: dir }, box, chip, label), update };
}
