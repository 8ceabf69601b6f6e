/** @import { Page } from "./page.js" */

/**
 * A tab's state in the address, as texts by name; empty ones are omitted.
 * @typedef {{ read: () => { [name: string]: string }, write: (params: URLSearchParams) => void }} Addressed
 */

/** @type {Map<string, Addressed>} */
const addressed = new Map();
/** @type {{ tab: string, page: Page | undefined }} */
const shownTab = { tab: "", page: undefined };

/** @param {string} tab @param {Addressed} state */
export const keepInAddress = (tab, state) => void addressed.set(tab, state);

/** The tab that is shown from now on. @param {string} tab @param {Page} page */
export function enterTab(tab, page) {
  Object.assign(shownTab, { tab, page });
  noteAddress();
}

/** Writes what is shown into the address: tab, run, sample, conditions, zoom. */
export function noteAddress() {
  const { tab, page } = shownTab;
  if (page === undefined) return;
  const state = Object.entries(addressed.get(tab)?.read() ?? {}).filter(([, value]) => value !== "");
  const params = new URLSearchParams(state);
  const { range } = page.view;
  if (range !== null) params.set("zoom", range.join(".."));
  const hidden = page.store.runs.filter(({ dir }) => !page.view.shows(dir)).map(({ run }) => run);
  if (hidden.length > 0) params.set("without", hidden.join("."));
  const text = `#${tab}${params.size > 0 ? `?${params}` : ""}`;
  if (text !== location.hash) history.replaceState(null, "", text);
}

/**
 * Applies the state in an address, and returns its tab; `given` is true if it contains more than the tab.
 * @param {string} hash @param {Page} page
 */
export function takeAddress(hash, page) {
  const [tab = "", query = ""] = hash.slice(1).split("?");
  if (query === "") return { tab, given: false };
  const params = new URLSearchParams(query);
  const zoom = /^(\d{1,9})\.\.(\d{1,9})$/.exec(params.get("zoom") ?? "");
  page.view.range = zoom === null ? null : [Number(zoom[1]), Number(zoom[2])];
  const without = (params.get("without") ?? "").split(".");
  for (const { run, dir } of page.store.runs)
    if (page.view.shows(dir) === without.includes(String(run))) page.view.toggle(dir);
  addressed.get(tab)?.write(params);
  return { tab, given: true };
}

/** A whole number of an address; undefined for anything else. @param {string | null} text */
export const numberIn = (text) => (/^\d{1,15}$/.test(text ?? "") ? Number(text) : undefined);
