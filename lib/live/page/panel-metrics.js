import { keepInAddress, noteAddress } from "./address.js";
import { chartTools } from "./chart-tools.js";
import { el, fill, renew } from "./dom.js";
import { ChartGrid } from "./panel-overview.js";

/** @import { Panel, Page } from "./page.js" */
/** @import { GuideRow } from "../wire.ts" */

/** Most charts shown at once; the list names the others. */
const MOST_CHARTS = 24;
let wanted = "";

keepInAddress("metrics", {
  read: () => ({ find: wanted }),
  write: (params) => {
    wanted = params.get("find") ?? "";
  },
});

/** @type {Panel} */
export const metricsPanel = {
  id: "metrics",
  title: "Metrics",
  mount(root, page) {
    const search = el("input", {
      type: "search",
      id: "metric-search",
      placeholder: "name or words: grad, timeouts math, clipped …",
      value: wanted,
      autocomplete: "off",
      "aria-label": "search metrics",
    });
    const count = el("p", { className: "count", role: "status" });
    const grid = el("div", { className: "charts" });
    const more = el("ul", { className: "names" });
    const tools = chartTools(page);
    root.append(el("div", { className: "search" }, search, count), tools.element, grid, more);
    const charts = new ChartGrid(page, grid);
    /** @type {readonly GuideRow[]} */
    let guide = [];
    const showFound = () => {
      wanted = search.value;
      noteAddress();
      const found = matching(namesOf(page), wanted, guide);
      fill(count, `${found.length} of ${namesOf(page).length} metrics`);
      charts.show(found.slice(0, MOST_CHARTS).map((name) => specOf(name, guide)));
      renew(more, ...found.slice(MOST_CHARTS).map((name) => nameButton(name, search)));
      charts.update();
    };
    search.addEventListener("input", showFound);
    page.connection.ask("guide").then(
      (rows) => {
        guide = /** @type {GuideRow[]} */ (rows);
        showFound();
      },
      (error) => page.say(error),
    );
    showFound();
    return {
      update(what) {
        if (what === "view" || what === "all" || what === "runs") tools.update();
        if (what === "theme") return charts.repaint();
        if (what === "runs" || what === "all" || what === "view") showFound();
        else if (what === "steps") charts.update();
      },
      close: () => charts.close(),
    };
  },
};

/** @param {Page} page */
const namesOf = (page) => [...new Set(page.visibleRuns().flatMap(({ names }) => [...names]))];

/** @param {string} name @param {HTMLInputElement} search */
function nameButton(name, search) {
  const pick = () => {
    search.value = name;
    search.dispatchEvent(new Event("input"));
  };
  return el("li", {}, el("button", { type: "button", className: "link", onclick: pick }, name));
}

/**
 * Names in which, or in whose definition, every word occurs; those that have the words in their name first.
 * @param {readonly string[]} names @param {string} text @param {readonly GuideRow[]} guide
 */
export function matching(names, text, guide) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (/** @type {string} */ name) => {
    if (name.toLowerCase() === text.trim().toLowerCase()) return 0;
    if (words.every((word) => name.toLowerCase().includes(word))) return 1;
    const row = rowFor(name, guide);
    const all = `${name} ${row?.definition ?? ""} ${row?.section ?? ""}`.toLowerCase();
    return words.every((word) => all.includes(word)) ? 2 : 3;
  };
  const ranked = names.map((name) => ({ name, rank: rank(name) })).filter(({ rank }) => rank < 3);
  return ranked.sort((a, b) => a.rank - b.rank).map(({ name }) => name);
}

/** @param {string} name @param {readonly GuideRow[]} guide @returns {import("./chart-data.js").ChartSpec} */
function specOf(name, guide) {
  const row = rowFor(name, guide);
  return {
    id: name,
    title: name,
    note: row?.definition ?? "",
    unit: row?.unit ?? "–",
    lines: [{ name, label: "value", hue: 0 }],
  };
}

/** Cache of the rows found so far, since a search asks for the row of every metric at every key press. @type {WeakMap<readonly GuideRow[], Map<string, GuideRow | undefined>>} */
const found = new WeakMap();

/** The row of the guide that a name belongs to. @param {string} name @param {readonly GuideRow[]} guide */
export function rowFor(name, guide) {
  const known = found.get(guide) ?? new Map();
  found.set(guide, known);
  if (!known.has(name)) known.set(name, findRow(name, guide));
  return known.get(name);
}

/**
 * The matching row with the fewest placeholders. "the same, one domain" is replaced by the row it refers to.
 * @param {string} name @param {readonly GuideRow[]} guide @returns {GuideRow | undefined}
 */
function findRow(name, guide) {
  const fits = guide.flatMap((row, at) => (pattern(row.name).test(name) ? [{ row, at }] : []));
  fits.sort((a, b) => a.row.name.split("<").length - b.row.name.split("<").length);
  const best = fits[0];
  if (best === undefined || !best.row.definition.startsWith("the same")) return best?.row;
  const meant = guide.slice(0, best.at).findLast(({ definition }) => !definition.startsWith("the same"));
  return { ...best.row, definition: `${meant?.definition ?? ""}; ${best.row.definition}` };
}

/** @param {string} name */
const pattern = (name) =>
  new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/<[^>]+>/g, ".+")}$`);
