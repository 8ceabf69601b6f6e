import { choice } from "./choice.js";
import { el } from "./dom.js";
import { sampleSearch } from "./sample-search.js";

/** @import { Page } from "./page.js" */

const STATUS_NAMES = ["correct", "partial", "wrong", "no_answer", "unparsable", "unscored"];
const ORDER_NAMES = ["newest", "oldest", "longest", "shortest", "best", "worst"];
/** Narrower pages show the conditions on demand: eight of them fill half the screen of a telephone. */
const WIDE = "(min-width: 701px)";

/** Conditions on completions. @param {Page} page @param {() => void} search */
export function sampleFilters(page, search) {
  const title = el("summary", {}, filtersTitle());
  const again = () => {
    title.textContent = filtersTitle();
    search();
  };
  const open = matchMedia(WIDE).matches;
  return el("details", { className: "filters", open }, title, searchForm(page, again));
}

/** Title with the number of active conditions. */
function filtersTitle() {
  const set = Object.entries(sampleSearch.asked).filter(([name, value]) => name !== "order" && value !== "");
  return set.length === 0 ? "Filters" : `Filters (${set.length} set)`;
}

/** @param {Page} page @param {() => void} search */
function searchForm(page, search) {
  const { asked } = sampleSearch;
  const keep = (/** @type {string} */ name, /** @type {string} */ value) => {
    sampleSearch.asked = { ...sampleSearch.asked, [name]: value };
    search();
  };
  const field = (/** @type {string} */ label, /** @type {string} */ name, /** @type {string} */ hint) =>
    el(
      "label",
      {},
      label,
      el("input", {
        name,
        placeholder: hint,
        value: asked[name] ?? "",
        size: 8,
        onchange: (/** @type {Event} */ event) =>
          keep(name, /** @type {HTMLInputElement} */ (event.target).value.trim()),
      }),
    );
  const domains = page.store.runs[sampleSearch.run]?.domains ?? [];
  return el(
    "form",
    {
      className: "tools",
      "aria-label": "which completions",
      onsubmit: (/** @type {Event} */ event) => event.preventDefault(),
    },
    page.store.runs.length > 1 && runChoice(page, search),
    choice("domain", "domain", ["", ...domains], asked["domain"], (value) => keep("domain", value)),
    choice("verdict", "status", ["", ...STATUS_NAMES], asked["status"], (value) => keep("status", value)),
    field("problem", "problem", "any"),
    ...(page.connection.frozen
      ? []
      : [
          field("steps", "steps", "7..12"),
          field("tokens", "tokens", "100.."),
          field("weights", "versions", "any"),
          field("flipped since step", "flippedSince", "–"),
          filterFlag(keep, "wrong but long", "wrongButLong"),
          filterFlag(keep, "truncated", "truncated"),
        ]),
    choice("first", "order", ORDER_NAMES, asked["order"], (value) => keep("order", value)),
  );
}

/** @param {(name: string, value: string) => void} keep @param {string} label @param {string} name */
const filterFlag = (keep, label, name) =>
  el(
    "label",
    { className: "flag" },
    el("input", {
      type: "checkbox",
      name,
      checked: (sampleSearch.asked[name] ?? "") !== "",
      onchange: (/** @type {Event} */ event) =>
        keep(name, /** @type {HTMLInputElement} */ (event.target).checked ? "1" : ""),
    }),
    label,
  );

/** @param {Page} page @param {() => void} search */
const runChoice = (page, search) =>
  choice(
    "run",
    "run",
    page.store.runs.map(({ run }) => String(run)),
    String(sampleSearch.run),
    (value) => {
      sampleSearch.run = Number(value);
      sampleSearch.row = undefined;
      search();
    },
    (value) => page.runLabel(Number(value)),
  );
