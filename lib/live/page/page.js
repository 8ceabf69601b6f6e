import { el, fill } from "./dom.js";
import { Store } from "./store.js";
import { View } from "./view.js";

/** @import { Connection } from "./connection.js" */
/** @import { RunInfo } from "../wire.ts" */

/**
 * A part of the page with its own tab. `mount` fills an element and returns callbacks for new data and for leaving
 * the tab. It queries the server by `page.connection.ask(name, params)`: lib/live/answers.ts lists the questions.
 * Insert text through `el()` alone.
 * @typedef {"steps" | "runs" | "line" | "all" | "view" | "theme"} Change
 * @typedef {{ update?: (what: Change) => void, close?: () => void, key?: (key: string) => boolean }} Mounted `key`
 * returns true for a key that it handled
 * @typedef {object} Panel
 * @property {string} id of its tab, in the address after #
 * @property {string} title
 * @property {(page: Page) => string | undefined} [empty] why it has no content for the visible runs; undefined if it
 * has some
 * @property {true} [needsServer] omitted from a static report
 * @property {(root: HTMLElement, page: Page) => Mounted} mount
 */

const MOST_IN_HEADER = 3;

/** Shared state of the panels. */
export class Page {
  connection;
  store;
  view = new View();
  /** Messages of the page itself. */
  notice = el("div", { className: "notice", role: "status", hidden: true });

  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    this.store = new Store(connection);
  }

  /** Runs that the reader has not switched off. @returns {RunInfo[]} */
  visibleRuns() {
    const shown = this.store.runs.filter(({ dir }) => this.view.shows(dir));
    return shown.length > 0 ? shown : this.store.runs.slice(0, 1);
  }

  /** Runs that the header has a line for. @returns {RunInfo[]} */
  headerRuns() {
    const { runs } = this.store;
    return runs.length <= MOST_IN_HEADER ? runs : this.visibleRuns().slice(0, MOST_IN_HEADER);
  }

  /** A name that distinguishes the run from the others. @param {number} run */
  runLabel(run) {
    const info = this.store.runs[run];
    if (info === undefined) return `run ${run}`;
    const same = this.store.runs.filter(({ name }) => name === info.name);
    if (same.length === 1) return info.name;
    const folder = info.dir.split("/").filter(Boolean).at(-1) ?? info.dir;
    return same.some((other) => other !== info && other.dir.endsWith(`/${folder}`)) ? info.dir : folder;
  }

  /** Tells the reader that something went wrong. @param {unknown} error */
  say(error) {
    const text = error instanceof Error ? error.message : String(error);
    const close = el(
      "button",
      { type: "button", onclick: () => fill(this.notice), "aria-label": "close" },
      "×",
    );
    fill(this.notice, el("span", {}, text), close);
    this.notice.hidden = false;
    close.addEventListener("click", () => {
      this.notice.hidden = true;
    });
  }
}
