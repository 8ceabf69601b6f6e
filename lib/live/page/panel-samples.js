import { noteAddress } from "./address.js";
import { showBeforeAfter } from "./before-after.js";
import { el, fill } from "./dom.js";
import { newestSearch } from "./newest-answer.js";
import { sampleFilters } from "./sample-filters.js";
import { GROUPS_A_PAGE, givenConditions, groupsList, noCompletions } from "./sample-list.js";
import { chooseSample, sampleSearch } from "./sample-search.js";
import { sampleView } from "./sample-view.js";

/** @import { Mounted, Panel, Page } from "./page.js" */
/** @import { GroupsAnswer, ShownSample } from "../wire.ts" */

/** Media query for windows that are wide enough to show a completion beside the list. */
const BESIDE = "(min-width: 901px)";

/** @type {Panel} */
export const samplesPanel = {
  id: "samples",
  title: "Samples",
  empty: (page) =>
    page.visibleRuns().some(({ journal }) => journal) ? undefined : "the run has judged no completion yet",
  mount(root, page) {
    const view = el("div", {});
    /** @type {Mounted | undefined} */
    let inner;
    const show = () => {
      fill(root, views(show), view);
      inner = sampleSearch.heldOut ? showBeforeAfter(view, page) : mountTraining(view, page);
      noteAddress();
    };
    show();
    return { update: (what) => inner?.update?.(what), key: (key) => inner?.key?.(key) ?? false };
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

/** Completions that steps took. @param {HTMLElement} root @param {Page} page @returns {Mounted} */
function mountTraining(root, page) {
  const list = el("div", { className: "sample-list" });
  const shown = el("div", { className: "sample-shown" });
  const open = opener(page, list, shown);
  const again = () => void search().catch((error) => page.say(error));
  const search = newestSearch(
    list,
    () => askList(page),
    (rows) => {
      fill(list, ...(rows?.({ open, again }) ?? [noCompletions()]));
      shown.hidden = rows === null;
      noteAddress();
    },
  );
  const filters = sampleFilters(page, () => {
    sampleSearch.offset = 0;
    again();
  });
  fill(list, el("p", { className: "muted", role: "status" }, "The completions are read…"));
  fill(root, filters, el("div", { className: "samples" }, list, shown));
  again();
  if (sampleSearch.row !== undefined) void open(sampleSearch.row).catch((error) => page.say(error));
  else {
    fill(
      shown,
      el("p", { className: "muted" }, "Choose a completion; j and k go to the next and the one before."),
    );
    if (matchMedia(BESIDE).matches) openFirst(list, open);
  }
  return {
    // new steps do not move the list under the reader's cursor; they appear in the next search
    update: (what) => void (what === "all" && again()),
    key: (key) => (key === "j" || key === "k") && moveInList(list, key === "j" ? 1 : -1, open),
  };
}

/** Asks for the list, and returns what draws it; null without completions. @param {Page} page */
async function askList(page) {
  const { run, asked, offset } = sampleSearch;
  const params = { run, ...givenConditions(asked), offset, limit: GROUPS_A_PAGE };
  const answer = /** @type {GroupsAnswer | null} */ (await page.connection.ask("groups", params));
  if (answer === null) return null;
  return (/** @type {import("./sample-list.js").ListActions} */ actions) => groupsList(page, answer, actions);
}

/** @param {Page} page @param {HTMLElement} list @param {HTMLElement} shown */
const opener = (page, list, shown) => async (/** @type {number} */ row) => {
  chooseSample(row);
  markRow(list, row);
  const { run } = sampleSearch;
  const one = /** @type {ShownSample | null} */ (await page.connection.ask("sample", { run, row }));
  if (one === null || sampleSearch.row !== row) return;
  fill(shown, sampleView(page, run, one));
  // in a single column the completion is above the list, which the reader may have scrolled
  if (shown.getBoundingClientRect().top < 0) shown.scrollIntoView({ block: "start" });
};

/** @param {HTMLElement} list @param {number} row */
function markRow(list, row) {
  for (const button of list.querySelectorAll("button[data-row]"))
    button.setAttribute("aria-current", String(button.getAttribute("data-row") === String(row)));
}

/** Opens the first completion once it has loaded, unless the reader has opened one. @param {HTMLElement} list @param {(row: number) => Promise<void>} open */
function openFirst(list, open) {
  const watch = new MutationObserver(() => {
    const first = list.querySelector("button[data-row]");
    if (first === null) return;
    watch.disconnect();
    if (sampleSearch.row === undefined) void open(Number(first.getAttribute("data-row")));
  });
  watch.observe(list, { childList: true, subtree: true });
}

/**
 * Opens the next completion of the list or the one before; a closed group is opened first, and its first one at the next key.
 * @param {HTMLElement} list @param {1 | -1} by @param {(row: number) => Promise<void>} open
 */
function moveInList(list, by, open) {
  const stops = [...list.querySelectorAll("details.group:not([open]) > summary, button[data-row]")].filter(
    (one) => one.getClientRects().length > 0,
  );
  const at = stops.findIndex((one) => one.getAttribute("data-row") === String(sampleSearch.row));
  const next = stops[at === -1 ? 0 : at + by];
  if (next === undefined) return true;
  next.scrollIntoView({ block: "nearest" });
  const row = next.getAttribute("data-row");
  if (row !== null) void open(Number(row));
  else openGroup(/** @type {HTMLDetailsElement} */ (next.parentElement), by, open);
  return true;
}

/** Unfolds a group and opens its first completion, or going back its last. @param {HTMLDetailsElement} group @param {1 | -1} by @param {(row: number) => Promise<void>} open */
function openGroup(group, by, open) {
  const choose = () => {
    const rows = group.querySelectorAll("button[data-row]");
    const row = rows[by === 1 ? 0 : rows.length - 1]?.getAttribute("data-row");
    if (row !== null && row !== undefined) void open(Number(row));
    return rows.length > 0;
  };
  group.open = true;
  if (choose()) return;
  const watch = new MutationObserver(() => choose() && watch.disconnect());
  watch.observe(group, { childList: true, subtree: true });
}
