import { Chart } from "./chart.js";
import { chartTools } from "./chart-tools.js";
import { el, fill } from "./dom.js";
import { firstScreen } from "./first-screen.js";
import { headline } from "./headline.js";

/** @import { Panel, Page } from "./page.js" */

/** @type {Panel} */
export const overviewPanel = {
  id: "overview",
  title: "Overview",
  mount(root, page) {
    const grid = el("div", { className: "charts" });
    const tools = chartTools(page);
    const first = headline(page);
    root.append(first.element, tools.element, grid);
    const charts = new ChartGrid(page, grid);
    const renew = () => {
      const specs = firstScreen(page.visibleRuns(), page.store.stages, page.view.everyLine);
      charts.show(specs.filter(({ lines }) => lines.length > 0));
    };
    renew();
    return {
      update(what) {
        first.update(what);
        if (what === "view" || what === "all" || what === "runs") tools.update();
        if (what === "theme") return charts.repaint();
        if (what === "runs" || what === "all" || what === "view") renew();
        if (what !== "line" && what !== "runs") charts.update();
      },
      close: () => charts.close(),
    };
  },
};

/** A grid of charts, reused as long as they draw the same lines. */
export class ChartGrid {
  #page;
  #root;
  /** @type {Map<string, Chart>} */
  #charts = new Map();

  /** @param {Page} page @param {HTMLElement} root */
  constructor(page, root) {
    this.#page = page;
    this.#root = root;
  }

  /** @param {import("./chart-data.js").ChartSpec[]} specs */
  show(specs) {
    const before = this.#charts;
    this.#charts = new Map(
      specs.map((spec) => {
        const key = JSON.stringify(spec);
        const chart = before.get(key) ?? new Chart(this.#page, spec);
        before.delete(key);
        return [key, chart];
      }),
    );
    for (const chart of before.values()) chart.close();
    const figures = [...this.#charts.values()].map(({ figure }) => figure);
    fill(this.#root, ...figures);
  }

  update() {
    for (const chart of this.#charts.values()) void chart.update();
  }

  repaint() {
    for (const chart of this.#charts.values()) chart.repaint();
  }

  close() {
    for (const chart of this.#charts.values()) chart.close();
    this.#charts.clear();
  }
}
