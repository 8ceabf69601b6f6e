import { showBeforeAfter } from "./before-after.js";
import { choice } from "./choice.js";
import { el, fill } from "./dom.js";
import { short } from "./format.js";
import { newestSearch } from "./newest-answer.js";
import { sampleSearch } from "./sample-search.js";
import { sampleView } from "./sample-view.js";

/** @import { Panel, Page } from "./page.js" */
/** @import { SamplesAnswer, ShownSample } from "../wire.ts" */

const SAMPLES_A_PAGE = 40;
const STATUS_NAMES = ["correct", "partial", "wrong", "no_answer", "unparsable", "unscored"];
const ORDER_NAMES = ["newest", "oldest", "longest", "shortest", "best", "worst"];

/** @type {Panel} */
export const samplesPanel = {
  id: "samples",
  title: "Samples",
  mount(root, page) {
    const view = el("div", {});
    /** @type {import("./page.js").Mounted | undefined} */
    let training;
    const show = () => {
      fill(root, views(show), view);
      training = sampleSearch.heldOut ? showBeforeAfter(view, page) : mountTraining(view, page);
    };
    show();
    return { update: (what) => training?.update?.(what) };
  },
};

/** The two kinds of completions. @param {() => void} show */
function views(show) {
  const button = (/** @type {string} */ name, /** @type {boolean} */ heldOut) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(sampleSearch.heldOut === heldOut),
        onclick: () => {
          sampleSearch.heldOut = heldOut;
          show();
        },
      },
      name,
    );
  return el(
    "p",
    { className: "views", role: "group", "aria-label": "which completions" },
    button("Training", false),
    button("Before / after", true),
  );
}

/** Completions that steps took. @param {HTMLElement} root @param {Page} page @returns {import("./page.js").Mounted} */
function mountTraining(root, page) {
  const list = el("div", { className: "sample-list" });
  const shown = el("div", { className: "sample-shown" });
  const form = searchForm(page, () => {
    sampleSearch.offset = 0;
    start();
  });
  fill(root, form, el("div", { className: "samples" }, list, shown));
  const ask = async () => {
    const { run, asked, offset } = sampleSearch;
    const params = { run, ...given(asked), offset, limit: SAMPLES_A_PAGE };
    return /** @type {SamplesAnswer | null} */ (await page.connection.ask("samples", params));
  };
  const search = newestSearch(list, ask, (answer) => {
    fill(list, ...rowsOf(answer, open, start, page.connection.completionsInAll));
    shown.hidden = answer === null;
  });
  const open = async (/** @type {number} */ row) => {
    sampleSearch.row = row;
    mark(list, row);
    const { run } = sampleSearch;
    const one = /** @type {ShownSample | null} */ (await page.connection.ask("sample", { run, row }));
    if (one === null || sampleSearch.row !== row) return;
    fill(shown, sampleView(page, run, one));
    // where there is one column it stands above the list, which the reader may have scrolled
    if (shown.getBoundingClientRect().top < 0) shown.scrollIntoView({ block: "start" });
  };
  const start = () => void search().catch((error) => page.say(error));
  start();
  if (sampleSearch.row === undefined) fill(shown, el("p", { className: "muted" }, "Choose a completion."));
  else void open(sampleSearch.row).catch((error) => page.say(error));
  // a list that moved under the reader's hand would be of no use: new steps come with the next search
  return { update: (what) => void (what === "all" && start()) };
}

/** Without what is empty. @param {import("./sample-search.js").SampleSearch} conditions */
const given = (conditions) =>
  Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== ""));

/** @param {HTMLElement} list @param {number} row */
function mark(list, row) {
  for (const button of list.querySelectorAll("button[data-row]"))
    button.setAttribute("aria-current", String(button.getAttribute("data-row") === String(row)));
}

/**
 * @param {SamplesAnswer | null} answer @param {(row: number) => Promise<void>} open @param {() => void} again
 * @param {number | undefined} of how many there are, where the page keeps only some
 * @returns {(Node | false)[]}
 */
function rowsOf(answer, open, again, of) {
  if (answer === null) return [el("p", { className: "muted" }, "The run has judged no completion yet.")];
  const { total, samples } = answer;
  const { offset, row } = sampleSearch;
  const move = (/** @type {number} */ by) => () => {
    sampleSearch.offset = Math.max(0, offset + by);
    again();
  };
  const last = offset + samples.length;
  return [
    el(
      "p",
      { className: "count", role: "status" },
      total === 0 ? "no completion is like that" : `${offset + 1} to ${last} of ${total} completions`,
      of === undefined ? "" : ` kept in this file; the run has ${short(of)} (hone watch)`,
    ),
    el("ol", {}, ...samples.map((one) => el("li", {}, sampleRow(one, open, row)))),
    el(
      "p",
      { className: "pager" },
      el("button", { type: "button", disabled: offset === 0, onclick: move(-SAMPLES_A_PAGE) }, "back"),
      el("button", { type: "button", disabled: last >= total, onclick: move(SAMPLES_A_PAGE) }, "more"),
    ),
  ];
}

/** @param {SamplesAnswer["samples"][0]} one @param {(row: number) => Promise<void>} open @param {number | undefined} current */
function sampleRow(one, open, current) {
  return el(
    "button",
    {
      type: "button",
      className: "sample-row",
      "data-row": one.row,
      "aria-current": one.row === current ? "true" : "false",
      onclick: () => void open(one.row),
    },
    el("span", { className: `status ${one.status}` }, one.status.replace("_", " ")),
    el("span", { className: "what" }, `${one.domain} ${one.problem}`),
    el("span", { className: "muted" }, `step ${one.step} · try ${one.attempt}`),
    el(
      "span",
      { className: "muted" },
      `${worthOf(one)} · ${short(one.tokens)} tokens${one.finish === "length" ? ", cut" : ""}`,
    ),
    el("span", { className: "excerpt" }, one.excerpt),
  );
}

/** Reward, and what it is made of where that is another number. @param {SamplesAnswer["samples"][0]} one */
function worthOf({ reward, score, penaltyScale = 0, penalty = 0 }) {
  if (reward === undefined) return "no reward";
  const share = penaltyScale * penalty;
  const parts = score === undefined || score === reward ? "" : ` · score ${score.toFixed(3)}`;
  return `reward ${reward.toFixed(3)}${parts}${share === 0 ? "" : ` · penalty ${share.toFixed(3)}`}`;
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
  const flag = (/** @type {string} */ label, /** @type {string} */ name) =>
    el(
      "label",
      { className: "flag" },
      el("input", {
        type: "checkbox",
        name,
        checked: (asked[name] ?? "") !== "",
        onchange: (/** @type {Event} */ event) =>
          keep(name, /** @type {HTMLInputElement} */ (event.target).checked ? "1" : ""),
      }),
      label,
    );
  const domains = page.store.runs[sampleSearch.run]?.domains ?? [];
  const { frozen } = page.connection;
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
    ...(frozen
      ? []
      : [
          field("steps", "steps", "7..12"),
          field("tokens", "tokens", "100.."),
          field("weights", "versions", "any"),
          field("flipped since step", "flippedSince", "–"),
          flag("wrong but long", "wrongButLong"),
          flag("truncated", "truncated"),
        ]),
    choice("first", "order", ORDER_NAMES, asked["order"], (value) => keep("order", value)),
  );
}

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
