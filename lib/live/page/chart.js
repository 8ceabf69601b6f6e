import { el, fill } from "./dom.js";
import { axisLabels, show } from "./format.js";
import { joined, lowerBound, movingMean, nearest, smoothingWindow, thinned } from "./numbers.js";

/** @import { Page } from "./page.js" */
/** @import { RunInfo } from "../wire.ts" */
/** @import { default as UPlot, Options, Series, AlignedData } from "uplot" */

/**
 * A line of a chart: a metric. `hue` picks a colour; the same index is the same domain on every chart.
 * @typedef {{ name: string, label: string, hue: number, right?: boolean }} ChartLine
 *
 * @typedef {object} ChartSpec
 * @property {string} id
 * @property {string} title
 * @property {string} note what is drawn and how to read it
 * @property {string} unit as docs/metrics.md names it
 * @property {string} [rightUnit] of the lines at the right axis
 * @property {[number, number]} [range] of the values, where it is fixed
 * @property {boolean} [stacked]
 * @property {ChartLine[]} lines
 *
 * @typedef {{ run: number, line: ChartLine, values: readonly (number | null)[], faint: boolean }} Drawn
 */

const HEIGHT = 210;
const HUES = 8;
const DASHES = [undefined, [6, 4], [2, 3], [9, 3, 2, 3]];

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
  #seen = false;
  #stale = true;
  /** @type {number | undefined} */
  #cursor;
  #resize = new ResizeObserver(() => this.#fitWidth());
  #sight = new IntersectionObserver(
    (entries) => {
      // several may come at once, the latest last
      this.#seen = entries.at(-1)?.isIntersecting ?? false;
      if (this.#seen && this.#stale) void this.update();
    },
    { rootMargin: "300px" },
  );

  /** @param {Page} page @param {ChartSpec} spec */
  constructor(page, spec) {
    this.#page = page;
    this.spec = spec;
    const unit = UNIT_NAMES[spec.unit] ?? spec.unit;
    this.figure = el(
      "figure",
      { className: "card chart", tabIndex: 0, "data-chart": spec.id, "aria-label": spec.title },
      el(
        "figcaption",
        {},
        el("h3", {}, spec.title, " ", el("small", {}, unit === "–" ? "" : unit)),
        el("p", {}, spec.note),
      ),
      this.#plotBox,
      this.#legend,
    );
    this.figure.addEventListener("keydown", (event) => this.#onKey(event));
    this.#resize.observe(this.#plotBox);
    this.#sight.observe(this.figure);
  }

  close() {
    this.#resize.disconnect();
    this.#sight.disconnect();
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  /** Draws what there is; asks for columns that are missing and draws again when they are here. */
  async update() {
    this.#stale = true;
    if (!this.#seen) return;
    const names = this.spec.lines.map(({ name }) => name);
    const runs = this.#runs();
    await Promise.all(runs.map(({ run }) => this.#page.store.need(run, names))).catch((error) =>
      this.#page.say(error),
    );
    if (!this.#seen) return;
    this.#stale = false;
    this.#draw();
  }

  /** @returns {RunInfo[]} */
  #runs() {
    const runs = this.#page.visibleRuns();
    return this.spec.stacked ? runs.slice(0, 1) : runs;
  }

  #draw() {
    const width = this.#plotBox.clientWidth;
    if (width === 0) return;
    const tables = this.#runs().map((info) => this.#tableOf(info, width));
    this.#drawn = tables.flatMap(({ drawn }) => drawn);
    const thin = tables.map(({ x, drawn }) =>
      thinned(
        x,
        stackedUp(
          this.spec,
          drawn.map(({ values }) => values),
        ),
        width,
      ),
    );
    const { x, columns } = joined(thin);
    const signature = JSON.stringify([
      this.#drawn.map(({ run, line, faint }) => [run, line.name, faint]),
      width > 0,
    ]);
    const data = /** @type {AlignedData} */ ([x, ...columns]);
    if (this.#plot === undefined || signature !== this.#signature) {
      this.#plot?.destroy();
      this.#plot = new uPlot(this.#options(width), data, this.#plotBox);
      this.#signature = signature;
    } else {
      this.#plot.setData(data, false);
    }
    this.#scaleTo(x);
    this.#showValues();
  }

  /** What is drawn of a run: steps in sight, and of each line its values, and where it is smoothed the mean over them. */
  #tableOf(/** @type {RunInfo} */ { run }, /** @type {number} */ _width) {
    const { store, view } = this.#page;
    const steps = store.steps(run);
    const window = view.smoothing === 0 ? smoothingWindow(steps.length) : view.smoothing;
    const [from, to] = view.range
      ? [lowerBound(steps, view.range[0] - 1), lowerBound(steps, view.range[1] + 2)]
      : [0, steps.length];
    /** @type {Drawn[]} */
    const drawn = [];
    for (const line of this.spec.lines) {
      const column = store.column(run, line.name);
      if (column === undefined || column.every((value) => value === null)) continue;
      const smooth = window > 1 && !this.spec.stacked;
      drawn.push({ run, line, values: column.slice(from, to), faint: smooth });
      if (smooth) drawn.push({ run, line, values: movingMean(column, window).slice(from, to), faint: false });
    }
    return { x: steps.slice(from, to), drawn };
  }

  /** @param {readonly number[]} x */
  #scaleTo(x) {
    const [first, last] = this.#page.view.range ?? [x[0] ?? 0, x.at(-1) ?? 1];
    this.#plot?.setScale("x", first === last ? { min: first - 1, max: last + 1 } : { min: first, max: last });
  }

  /** @param {number} width @returns {Options} */
  #options(width) {
    const { spec } = this;
    const right = spec.lines.some((line) => line.right);
    const axis = {
      stroke: () => colour("--muted"),
      font: `12px ${colour("--font")}`,
      ticks: { show: false },
    };
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      padding: [10, right ? 4 : 12, 0, 0],
      cursor: {
        sync: { key: "step" },
        drag: { x: true, y: false, setScale: false },
        points: { size: 7 },
        y: false,
        bind: { dblclick: () => () => this.#zoomOut() },
      },
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
      axes: [
        { ...axis, size: 26, gap: 6, grid: { show: false }, space: 60, incrs: STEP_INCREMENTS },
        {
          ...axis,
          size: 56,
          gap: 8,
          space: 36,
          grid: { stroke: () => colour("--grid"), width: 1 },
          values: (_u, ticks) => axisLabels(ticks, spec.unit),
        },
        ...(right
          ? [
              {
                ...axis,
                scale: "right",
                side: /** @type {const} */ (1),
                size: 50,
                gap: 8,
                space: 36,
                grid: { show: false },
                values: (/** @type {UPlot} */ _u, /** @type {number[]} */ ticks) =>
                  axisLabels(ticks, spec.rightUnit ?? ""),
              },
            ]
          : []),
      ],
      series: [{}, ...this.#drawn.map((drawn) => this.#seriesOf(drawn))],
      bands: spec.stacked
        ? this.#drawn.slice(1).map((_, i) => ({ series: /** @type {[number, number]} */ ([i + 2, i + 1]) }))
        : [],
      hooks: {
        setCursor: [(u) => this.#onCursor(u)],
        setSelect: [(u) => this.#onSelect(u)],
        drawClear: [(u) => this.#drawMarks(u)],
      },
    };
  }

  /** @param {Drawn} drawn @returns {Series} */
  #seriesOf({ line, run, faint }) {
    const stroke = () => withAlpha(this.#colourOf(line, run), faint ? 0.22 : 1);
    const dash =
      DASHES[this.#lineIsRun() ? 0 : this.#runIndex(run) % DASHES.length] ??
      (line.right ? [3, 3] : undefined);
    return {
      label: line.label,
      scale: line.right ? "right" : "y",
      stroke,
      width: faint ? 1 : this.spec.stacked ? 1 : 1.75,
      ...(dash && { dash }),
      ...(this.spec.stacked && {
        fill: () => withAlpha(this.#colourOf(line, run), 0.55),
      }),
      spanGaps: !faint,
      points: { show: this.#page.store.steps(run).length < 3 && !faint, size: 6 },
    };
  }

  /** A chart of one metric tells runs apart by colour; others need the colour for their lines. */
  #lineIsRun() {
    return this.spec.lines.length === 1 && this.#page.visibleRuns().length > 1;
  }

  /** @param {number} run */
  #runIndex(run) {
    return this.#page.visibleRuns().findIndex((info) => info.run === run);
  }

  /** @param {ChartLine} line @param {number} run */
  #colourOf(line, run) {
    return colour(`--hue-${(this.#lineIsRun() ? run : line.hue) % HUES}`);
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
    const range = /** @type {[number, number]} */ ([
      Math.round(u.posToVal(left, "x")),
      Math.round(u.posToVal(left + width, "x")),
    ]);
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    if (range[1] > range[0]) this.#page.view.range = range;
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
    const steps = this.#page.store.steps(this.#runs()[0]?.run ?? 0);
    const at = this.#cursor === undefined ? steps.length : lowerBound(steps, Math.round(this.#cursor)) + by;
    const step = steps[Math.min(steps.length - 1, Math.max(0, at))];
    if (step === undefined) return;
    this.#plot.setCursor({ left: this.#plot.valToPos(step, "x"), top: 10 });
    this.#cursor = step;
    this.#showValues();
  }

  /** The log's own numbers at the step nearest to the cursor; without one, of each run's last. */
  #showValues() {
    const runs = this.#runs();
    const stepsOf = (/** @type {RunInfo} */ { run }) => this.#page.store.steps(run);
    const cursor = this.#cursor;
    const near = cursor === undefined ? [] : runs.map((info) => nearest(stepsOf(info), cursor));
    const at = nearest(
      /** @type {number[]} */ (near.filter((step) => step !== undefined)).sort((a, b) => a - b),
      cursor ?? 0,
    );
    const shown = new Map(runs.map((info) => [info.run, cursor === undefined ? stepsOf(info).at(-1) : at]));
    const steps = new Set([...shown.values()].filter((step) => step !== undefined));
    const marks = runs
      .flatMap(({ marks }) => marks)
      .filter((mark) => mark.step === at)
      .map(({ text }) => text);
    const items = this.#drawn.flatMap((drawn) =>
      drawn.faint ? [] : [this.#legendItem(drawn, shown.get(drawn.run), runs)],
    );
    const label = steps.size === 0 ? "no step yet" : steps.size > 1 ? "last steps" : `step ${[...steps][0]}`;
    const mark = marks.length > 0 && el("li", { className: "mark" }, marks.join(" · "));
    fill(this.#legend, el("li", { className: "at" }, label), ...items, mark);
  }

  /** @param {Drawn} drawn @param {number | undefined} step @param {readonly RunInfo[]} runs */
  #legendItem({ line, run }, step, runs) {
    const { store } = this.#page;
    const row = step === undefined ? -1 : lowerBound(store.steps(run), step);
    const value = store.steps(run)[row] === step ? store.column(run, line.name)?.[row] : undefined;
    const unit = line.right ? (this.spec.rightUnit ?? "") : this.spec.unit;
    const name =
      runs.length > 1
        ? `${this.#lineIsRun() ? "" : `${line.label} · `}${this.#page.runLabel(run)}`
        : line.label;
    const chip = el("span", { className: "chip" });
    chip.style.background = this.#colourOf(line, run);
    const text = value === null || value === undefined ? "–" : show(value, unit);
    return el(
      "li",
      {
        "data-metric": line.name,
        "data-run": run,
        title: value === null || value === undefined ? line.name : `${line.name} = ${value}`,
      },
      chip,
      name,
      " ",
      el("b", {}, text),
    );
  }

  /** Checkpoints at the foot; where a sitting began, or somebody intervened, a line over the whole height. @param {UPlot} u */
  #drawMarks(u) {
    const { ctx, bbox } = u;
    ctx.save();
    for (const { kind, step } of this.#runs().flatMap(({ marks }) => marks)) {
      const x = Math.round(u.valToPos(step, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width || kind === "warning") continue;
      ctx.strokeStyle = ctx.fillStyle = colour(
        kind === "checkpoint" ? "--muted" : kind === "control" ? "--hue-1" : "--hue-3",
      );
      ctx.lineWidth = devicePixelRatio;
      const foot = bbox.top + bbox.height;
      if (kind === "checkpoint") {
        const size = 4 * devicePixelRatio;
        ctx.beginPath();
        ctx.moveTo(x - size, foot);
        ctx.lineTo(x + size, foot);
        ctx.lineTo(x, foot - 1.6 * size);
        ctx.fill();
        continue;
      }
      ctx.setLineDash(kind === "resume" ? [6, 4] : [2, 3]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, foot);
      ctx.stroke();
    }
    ctx.restore();
  }

  #fitWidth() {
    const width = this.#plotBox.clientWidth;
    if (this.#plot === undefined || width === 0) return void (this.#seen && this.update());
    if (Math.abs(width - this.#plot.width) <= 1) return;
    this.#plot.setSize({ width, height: HEIGHT });
    this.#draw();
  }

  /** After the theme changed. */
  repaint() {
    this.#plot?.redraw(false, true);
  }
}

const STEP_INCREMENTS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000,
];
/** Units that the axis says already have no name beside the title. */
const UNIT_NAMES = /** @type {{ [unit: string]: string }} */ ({
  fraction: "",
  score: "0 to 1",
  s: "",
  bytes: "",
  "–": "",
});

/** @param {string} name */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** @param {string} hex @param {number} alpha */
const withAlpha = (hex, alpha) =>
  hex +
  Math.round(alpha * 255)
    .toString(16)
    .padStart(2, "0");

/** @param {ChartSpec} spec @param {(readonly (number | null)[])[]} columns @returns {(readonly (number | null)[])[]} */
function stackedUp({ stacked }, columns) {
  if (!stacked) return columns;
  /** @type {number[]} */
  const total = [];
  return columns.map((column) => column.map((value, i) => (total[i] = (total[i] ?? 0) + (value ?? 0))));
}

/**
 * From zero on, unless the values are far from it and have no natural zero.
 * @param {number | null} low @param {number | null} high @param {string} unit @returns {[number, number]}
 */
function fitted(low, high, unit) {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const zero = unit !== "–" || low < 0.5;
  const bottom = zero ? Math.min(0, low) : low;
  const pad = (high - bottom || Math.abs(high) || 1) * 0.08;
  return [zero && low >= 0 ? 0 : bottom - pad, high + pad];
}
