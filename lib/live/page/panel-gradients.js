import { el, fill, svg, table } from "./dom.js";
import { short, significant } from "./format.js";
import { nearest } from "./numbers.js";
import { ChartGrid } from "./panel-overview.js";

/** @import { Panel, Page } from "./page.js" */
/** @import { RunInfo } from "../wire.ts" */

const NORM = "gradient/norm/";
/** Largest number of stretches in a strip. More measurements are averaged. */
const MOST_STRETCHES = 160;
/** Rows of the table over time; the log has the others. */
const MOST_ROWS = 200;
const STRIP_HEIGHT = 16;
/** Hue of a line that belongs to no single domain. */
const WHOLE_HUE = 5;
/** The step that the reader looks at, by run folder; without one it is the last measured. @type {Map<string, number>} */
const looked = new Map();

/** @type {Panel} */
export const gradientsPanel = {
  id: "gradients",
  title: "Gradients",
  empty: (page) =>
    page.visibleRuns().some((info) => measuredDomains(info).length > 0) ? undefined : NOT_MEASURED,
  mount(root, page) {
    const about = el("p", { className: "muted note" });
    const now = el("div", {});
    const history = el("div", { className: "charts" });
    root.append(about, now, history);
    const charts = new ChartGrid(page, history);
    /** @type {Map<number, GradientSection>} */
    const sections = new Map();
    const renew = () => {
      const runs = page.visibleRuns().filter((info) => measuredDomains(info).length > 0);
      fill(about, runs.length > 0 ? ABOUT : NOT_MEASURED);
      fill(
        now,
        ...runs.map((info) => {
          const section = sections.get(info.run) ?? new GradientSection(page, info.run);
          sections.set(info.run, section);
          void section.load();
          return section.element;
        }),
      );
      charts.show(gradientCharts(runs));
      charts.update();
    };
    renew();
    return {
      update(what) {
        if (what === "theme") return charts.repaint();
        if (what === "line") return;
        if (what !== "steps") return renew();
        if (sections.size === 0) return renew();
        for (const section of sections.values()) section.show();
        charts.update();
      },
      close: () => charts.close(),
    };
  },
};

const ABOUT =
  "What each domain adds to the gradient of a step, before clipping and before the optimizer. Shares add up to 1: a domain below 0 pulls against the others. Noise scale: groups a step at which the gradient's noise is as large as its signal.";
const NOT_MEASURED =
  "No step measured the gradients of its domains. A recipe's metrics: { gradients: { everySteps: 10 } } does, for one more forward and backward of each such step.";

/**
 * Domains in the recipe's order: the first measurements may lack one. @param {Pick<RunInfo, "names" | "domains">}
 * info @returns {string[]}
 */
const measuredDomains = ({ names, domains }) => {
  const found = names.filter((name) => name.startsWith(NORM)).map((name) => name.slice(NORM.length));
  return [
    ...domains.filter((domain) => found.includes(domain)),
    ...found.filter((one) => !domains.includes(one)),
  ];
};

/**
 * Two domains and the metric of the angle between them, which has them in the recipe's order.
 * @param {readonly string[]} domains @param {readonly string[]} names
 * @returns {{ a: string, b: string, name: string }[]}
 */
export function domainPairs(domains, names) {
  const known = new Set(names);
  return domains.flatMap((a, i) =>
    domains.slice(i + 1).flatMap((b) => {
      const [name] = [`gradient/cosine/${a}/${b}`, `gradient/cosine/${b}/${a}`].filter((one) =>
        known.has(one),
      );
      return name === undefined ? [] : [{ a, b, name }];
    }),
  );
}

/**
 * At most `most` means over equally many consecutive measurements; null where none of them has a value.
 * @param {readonly number[]} steps @param {readonly (number | null)[]} values @param {number} most
 * @returns {{ from: number, to: number, value: number | null }[]} first and last step of each
 */
export function stretches(steps, values, most) {
  const each = Math.max(1, Math.ceil(steps.length / most));
  return Array.from({ length: Math.ceil(steps.length / each) }, (_, i) => {
    const some = values
      .slice(i * each, (i + 1) * each)
      .flatMap((value) => (value === null || value === undefined ? [] : [value]));
    const sum = some.reduce((total, value) => total + value, 0);
    return {
      from: steps[i * each],
      to: steps[Math.min(steps.length, (i + 1) * each) - 1],
      value: some.length === 0 ? null : sum / some.length,
    };
  });
}

/** One run: the matrix at a measured step, its history, and the same as a table. */
class GradientSection {
  element;
  #page;
  #run;
  #title = el("h3", {});
  #slider = el("input", { type: "range", min: "0", step: "1", "aria-label": "measured step" });
  #matrix = el("div", {});
  #strips = el("div", { className: "strips" });
  #all = el("div", {});
  #steps = /** @type {number[]} */ ([]);

  /** @param {Page} page @param {number} run */
  constructor(page, run) {
    this.#page = page;
    this.#run = run;
    const move = (/** @type {number} */ by) => this.#look(Number(this.#slider.value) + by);
    const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {number} */ by) =>
      el("button", { type: "button", "aria-label": label, onclick: () => move(by) }, text);
    this.#slider.addEventListener("input", () => move(0));
    const heading = page.store.runs.length > 1 && el("h2", {}, page.runLabel(run));
    const tools = el(
      "div",
      { className: "tools" },
      button("‹", "measurement before", -1),
      this.#slider,
      button("›", "next measurement", 1),
    );
    const listed = el("details", {}, el("summary", {}, "All measurements as a table"), this.#all);
    const over = el("div", { className: "card" }, el("h3", {}, "Cosines over time"), this.#strips, listed);
    this.element = el(
      "section",
      { className: "gradients", "data-run": run },
      heading,
      el("div", { className: "card" }, this.#title, tools, this.#matrix),
      over,
    );
  }

  get #info() {
    return this.#page.store.runs[this.#run];
  }

  async load() {
    const names = this.#info.names.filter((name) => name.startsWith("gradient/"));
    try {
      await this.#page.store.need(this.#run, names);
    } catch (error) {
      this.#page.say(error);
    }
    this.show();
  }

  /** The values of a metric at the measured steps. @param {string} name @returns {(number | null)[]} */
  #values(name) {
    const column = this.#page.store.column(this.#run, name) ?? [];
    const at = new Map(this.#page.store.steps(this.#run).map((step, i) => [step, column[i] ?? null]));
    return this.#steps.map((step) => at.get(step) ?? null);
  }

  show() {
    const { store } = this.#page;
    const domains = measuredDomains(this.#info);
    const norms = domains.map((domain) => store.column(this.#run, NORM + domain));
    this.#steps = store
      .steps(this.#run)
      .filter((_, i) => norms.some((column) => typeof column?.[i] === "number"));
    if (this.#steps.length === 0) return;
    const wanted = looked.get(this.#info.dir);
    const step = wanted === undefined ? this.#steps.at(-1) : nearest(this.#steps, wanted);
    const index = this.#steps.indexOf(/** @type {number} */ (step));
    this.#slider.max = String(this.#steps.length - 1);
    this.#slider.value = String(index);
    const text = `Step ${step}, measurement ${index + 1} of ${this.#steps.length}`;
    this.#slider.setAttribute("aria-valuetext", text);
    fill(this.#title, text);
    this.#showMatrix(domains, index);
    this.#showStrips(domainPairs(domains, this.#info.names), index);
  }

  /** @param {number} index */
  #look(index) {
    const last = this.#steps.length - 1;
    const to = Math.min(last, Math.max(0, index));
    if (to === last) looked.delete(this.#info.dir);
    else looked.set(this.#info.dir, /** @type {number} */ (this.#steps[to]));
    this.show();
  }

  /** @param {string[]} domains @param {number} index */
  #showMatrix(domains, index) {
    const at = (/** @type {string} */ name) => this.#values(name)[index] ?? null;
    const cosines = new Map(
      domainPairs(domains, this.#info.names).flatMap(({ a, b, name }) => {
        const value = at(name);
        return [
          [JSON.stringify([a, b]), value],
          [JSON.stringify([b, a]), value],
        ];
      }),
    );
    const rows = domains.map((a) => [
      a,
      ...domains.map((b) =>
        a === b ? el("span", { className: "muted" }, "1") : cosineCell(cosines.get(JSON.stringify([a, b]))),
      ),
      normText(at(NORM + a)),
      shareText(at(`gradient/share/${a}`)),
      scaleText(at(`gradient/noise-scale/${a}`), at(`gradient/signal/${a}`)),
    ]);
    const head = ["domain", ...domains, "norm", "share", "noise scale"];
    const all = scaleText(at("gradient/noise-scale"), at("gradient/signal"));
    fill(
      this.#matrix,
      table(head, rows, "Cosine of the angle between the gradients of two domains"),
      el("p", { className: "muted" }, `Noise scale of all domains together: ${all}`),
    );
  }

  /** @param {{ a: string, b: string, name: string }[]} pairs @param {number} index */
  #showStrips(pairs, index) {
    const step = /** @type {number} */ (this.#steps[index]);
    fill(
      this.#strips,
      ...pairs.flatMap(({ a, b, name }) => {
        const values = this.#values(name);
        const label = `${a} and ${b}: ${cosineText(values[0])} at step ${this.#steps[0]}, ${cosineText(values[index])} at step ${step}`;
        return [
          el("span", {}, `${a} · ${b}`),
          strip(stretches(this.#steps, values, MOST_STRETCHES), step, label),
          el("b", {}, cosineText(values[index])),
        ];
      }),
    );
    const columns = pairs.map(({ name }) => this.#values(name));
    const rows = this.#steps
      .map((at, i) => [String(at), ...columns.map((column) => cosineText(column[i]))])
      .slice(-MOST_ROWS)
      .reverse();
    fill(this.#all, table(["step", ...pairs.map(({ a, b }) => `${a} · ${b}`)], rows));
  }
}

/** @param {number | null | undefined} value */
const cosineText = (value) => (typeof value === "number" ? value.toFixed(2).replace("-", "−") : "–");
/** @param {number | null} value */
const normText = (value) => (value === null ? "–" : short(value));
/** @param {number | null} value */
const shareText = (value) => (value === null ? "–" : `${significant(100 * value, 3)} %`.replace("-", "−"));
/** @param {number | null} value @param {number | null} signal */
const scaleText = (value, signal) =>
  value !== null
    ? `${short(value)} groups`
    : signal !== null && signal <= 0
      ? "no signal above the noise"
      : "–";

/**
 * From the card's colour to blue at 1, to orange at −1, scaled by the square root, since most values are small;
 * always light enough for the number on it.
 * @param {number} value
 */
function cosineColour(value) {
  const part = (45 * Math.sqrt(Math.min(1, Math.abs(value)))).toFixed(1);
  return `color-mix(in srgb, var(--hue-${value < 0 ? 1 : 0}) ${part}%, var(--card))`;
}

/** @param {number | null | undefined} value */
function cosineCell(value) {
  const cell = el("span", { className: "cosine" }, cosineText(value));
  if (typeof value === "number") cell.style.background = cosineColour(value);
  return cell;
}

/** @param {ReturnType<typeof stretches>} parts @param {number} step the selected step @param {string} label */
function strip(parts, step, label) {
  const width = 100 / parts.length;
  const cells = parts.flatMap(({ from, to, value }, i) => {
    if (value === null) return [];
    const cell = svg("rect", { x: `${i * width}%`, y: 0, width: `${width}%`, height: STRIP_HEIGHT });
    cell.style.fill = cosineColour(value);
    cell.append(
      svg("title", {}, `${from === to ? `step ${from}` : `steps ${from} to ${to}`}: ${cosineText(value)}`),
    );
    return [cell];
  });
  const at = parts.findIndex(({ from, to }) => from <= step && step <= to);
  const mark = svg("rect", {
    class: "mark",
    x: `${(at + 0.5) * width}%`,
    y: 0,
    width: 2,
    height: STRIP_HEIGHT,
  });
  return svg("svg", { class: "strip", role: "img", "aria-label": label }, ...cells, mark);
}

/** @param {RunInfo[]} runs @returns {import("./chart-data.js").ChartSpec[]} */
function gradientCharts(runs) {
  const names = new Set(runs.flatMap((run) => [...run.names]));
  const domains = [...new Set(runs.flatMap((run) => [...run.domains, ...measuredDomains(run)]))];
  const lines = (/** @type {string} */ prefix) =>
    domains.flatMap((label, hue) =>
      names.has(prefix + label) ? [{ name: prefix + label, label, hue }] : [],
    );
  const all = (/** @type {string} */ name) =>
    names.has(name) ? [{ name, label: "all domains", hue: WHOLE_HUE }] : [];
  return [
    {
      id: "gradient-share",
      title: "Share of the gradient",
      note: "What each domain adds along the step's gradient; they add up to 1.",
      unit: "fraction",
      lines: lines("gradient/share/"),
    },
    {
      id: "gradient-norm",
      title: "Gradient norm by domain",
      note: "With the normalizer of the whole step.",
      unit: "–",
      lines: lines(NORM),
    },
    {
      id: "gradient-noise-scale",
      title: "Gradient noise scale",
      note: "Groups a step at which noise equals signal, smoothed; none where the signal is not above 0.",
      unit: "groups",
      lines: [...all("gradient/noise-scale"), ...lines("gradient/noise-scale/")],
    },
    {
      id: "gradient-signal",
      title: "Signal",
      note: "Estimated squared norm of the expected gradient, smoothed; below 0 the noise drowns it.",
      unit: "–",
      lines: [...all("gradient/signal"), ...lines("gradient/signal/")],
    },
  ].filter(({ lines }) => lines.length > 0);
}
