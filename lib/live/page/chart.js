import { chartData, chartRuns } from "./chart-data.js";
import { legendItems } from "./chart-legend.js";
import { CHART_HEIGHT, plotLook } from "./chart-look.js";
import { drawMarks } from "./chart-marks.js";
import { el, fill } from "./dom.js";
import { lowerBound } from "./numbers.js";
import { Sight } from "./sight.js";

/** @import { Page } from "./page.js" */
/** @import { ChartSpec, Drawn } from "./chart-data.js" */
/** @import { default as UPlot, Options, AlignedData } from "uplot" */

/** A figure with a plot, its legend and the values under the cursor. It follows the store and the reader's choices. */
export class Chart {
  /** @type {ChartSpec} */
  spec;
  #page;
  #plotBox = el("div", { className: "plot" });
  #legend = el("ul", { className: "legend" });
  /** @type {HTMLElement} */
  figure;
  /** @type {UPlot | undefined} */
  #plot;
  #signature = "";
  /** @type {Drawn[]} */
  #drawn = [];
  #stale = true;
  /** @type {number | undefined} */
  #cursor;
  #resize = new ResizeObserver(() => this.#fitWidth());
  #sight;

  /** @param {Page} page @param {ChartSpec} spec */
  constructor(page, spec) {
    this.#page = page;
    this.spec = spec;
    this.figure = figureOf(spec, this.#plotBox, this.#legend);
    this.figure.addEventListener("keydown", (event) => this.#onKey(event));
    this.#resize.observe(this.#plotBox);
    this.#sight = new Sight(this.figure, () => this.#stale && void this.update());
  }

  close() {
    this.#resize.disconnect();
    this.#sight.close();
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  /** Draws the available columns; requests missing ones and draws again when they arrive. */
  async update() {
    this.#stale = true;
    if (!this.#sight.isSeen) return;
    const names = this.spec.lines.map(({ name }) => name);
    const runs = chartRuns(this.#page, this.spec);
    await Promise.all(runs.map(({ run }) => this.#page.store.need(run, names))).catch((error) =>
      this.#page.say(error),
    );
    if (!this.#sight.isSeen) return;
    this.#stale = false;
    this.#draw();
  }

  #draw() {
    const width = this.#plotBox.clientWidth;
    if (width === 0) return;
    const { drawn, x, columns } = chartData(this.#page, this.spec, width);
    this.#drawn = drawn;
    sayNothing(this.#plotBox, this.spec, drawn);
    const signature = signatureOf(drawn);
    const data = /** @type {AlignedData} */ ([x, ...columns]);
    if (this.#plot === undefined || signature !== this.#signature) {
      this.#plot?.destroy();
      this.#plot = new uPlot(this.#options(width), data, this.#plotBox);
      this.#signature = signature;
    } else {
      this.#plot.setData(data, false);
    }
    this.#plot.setScale("x", between(this.#page.view.range ?? x));
    this.#showValues();
  }

  /** @param {number} width @returns {Options} */
  #options(width) {
    return {
      ...plotLook(this.#page, this.spec, this.#drawn),
      width,
      cursor: {
        sync: { key: "step" },
        drag: { x: true, y: false, setScale: false },
        points: { size: 7 },
        y: false,
        bind: { dblclick: () => () => this.#zoomOut() },
      },
      hooks: {
        setCursor: [(u) => this.#onCursor(u)],
        setSelect: [(u) => this.#onSelect(u)],
        drawClear: [(u) => drawMarks(u, chartRuns(this.#page, this.spec))],
      },
    };
  }

  /** @param {UPlot} u */
  #onCursor(u) {
    const { left } = u.cursor;
    this.#cursor = left === undefined || left === null || left < 0 ? undefined : u.posToVal(left, "x");
    this.#showValues();
  }

  /** @param {UPlot} u */
  #onSelect(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    const [from, to] = [left, left + width].map((at) => Math.round(u.posToVal(at, "x")));
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    if (to > from) this.#page.view.range = [from, to];
  }

  #zoomOut() {
    this.#page.view.range = null;
    return null;
  }

  /** Arrows move the cursor by a step, so that every value can be read without a pointer. @param {KeyboardEvent} event */
  #onKey(event) {
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (by === 0 || this.#plot === undefined) return;
    event.preventDefault();
    const steps = this.#page.store.steps(chartRuns(this.#page, this.spec)[0]?.run ?? 0);
    const at = this.#cursor === undefined ? steps.length : lowerBound(steps, Math.round(this.#cursor)) + by;
    const step = steps[Math.min(steps.length - 1, Math.max(0, at))];
    if (step === undefined) return;
    this.#plot.setCursor({ left: this.#plot.valToPos(step, "x"), top: 10 });
    this.#cursor = step;
    this.#showValues();
  }

  #showValues() {
    fill(this.#legend, ...legendItems(this.#page, this.spec, this.#drawn, this.#cursor));
  }

  #fitWidth() {
    const width = this.#plotBox.clientWidth;
    if (this.#plot === undefined || width === 0) return void (this.#sight.isSeen && this.update());
    if (Math.abs(width - this.#plot.width) <= 1) return;
    this.#plot.setSize({ width, height: CHART_HEIGHT });
    this.#draw();
  }

  /** Redraws after a change of the theme. */
  repaint() {
    this.#plot?.redraw(false, true);
  }
}

/** Identifies the lines of a plot: other lines need a new plot. @param {readonly Drawn[]} drawn */
const signatureOf = (drawn) =>
  JSON.stringify(drawn.map(({ run, line, faint, rare }) => [run, line.name, faint, rare]));

/**
 * Replaces a chart whose values are all zero by a sentence. @param {HTMLElement} box @param {ChartSpec} spec @param
 * {readonly Drawn[]} drawn
 */
function sayNothing(box, { quiet }, drawn) {
  const isZero = drawn.length > 0 && drawn.every(({ values }) => values.every((value) => (value ?? 0) === 0));
  if (quiet !== undefined && isZero) box.dataset["quiet"] = quiet;
  else delete box.dataset["quiet"];
}

/** The range of the values, never empty. @param {readonly number[]} x ascending */
function between(x) {
  const [min, max] = [x[0] ?? 0, x.at(-1) ?? 1];
  return min === max ? { min: min - 1, max: max + 1 } : { min, max };
}

/** Units without a label beside the title, because the axis shows them. */
const UNIT_NAMES = /** @type {{ [unit: string]: string }} */ ({
  fraction: "",
  score: "0 to 1",
  reward: "",
  s: "",
  bytes: "",
  "–": "",
});

/** @param {ChartSpec} spec @param {HTMLElement} plot @param {HTMLElement} legend */
function figureOf({ id, title, note, unit }, plot, legend) {
  return el(
    "figure",
    { className: "card chart", tabIndex: 0, "data-chart": id, "aria-label": title },
    el(
      "figcaption",
      {},
      el("h3", {}, title, " ", el("small", {}, UNIT_NAMES[unit] ?? unit)),
      el("p", {}, note),
    ),
    plot,
    legend,
  );
}
