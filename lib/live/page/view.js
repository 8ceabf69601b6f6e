/**
 * The reader's settings: preserved when steps arrive and when the page reloads, and shared by all charts.
 * @typedef {{ range: [number, number] | null, smoothing: number, hidden: string[], everyLine: boolean, theme: "auto"
 * | "light" | "dark" }} Chosen
 */

/** Steps that a mean is over; 0: about a twentieth of the run, 1: none. */
export const SMOOTHING = [0, 1, 5, 15, 51, 151];
const KEY = "hone.view";

export class View {
  /** @type {Chosen} */
  #chosen = { range: null, smoothing: 0, hidden: [], everyLine: false, theme: "auto", ...restored() };
  /** @type {Set<() => void>} */
  #listeners = new Set();

  /** First and last step shown; null: all of them. */
  get range() {
    return this.#chosen.range;
  }
  set range(range) {
    this.#set({ range: range === null ? null : [Math.min(...range), Math.max(...range)] });
  }

  /** One of the values in SMOOTHING. */
  get smoothing() {
    return this.#chosen.smoothing;
  }
  set smoothing(smoothing) {
    this.#set({ smoothing });
  }

  nextSmoothing() {
    this.smoothing = SMOOTHING[(SMOOTHING.indexOf(this.smoothing) + 1) % SMOOTHING.length] ?? 0;
  }

  /** With several runs: draw every line of a chart; otherwise each run has one line. */
  get everyLine() {
    return this.#chosen.everyLine;
  }
  set everyLine(everyLine) {
    this.#set({ everyLine });
  }

  get theme() {
    return this.#chosen.theme;
  }
  set theme(theme) {
    this.#set({ theme });
    applyTheme(theme);
  }

  /** @param {string} dir of a run */
  shows(dir) {
    return !this.#chosen.hidden.includes(dir);
  }

  /** @param {string} dir */
  toggle(dir) {
    const others = this.#chosen.hidden.filter((other) => other !== dir);
    this.#set({ hidden: this.shows(dir) ? [...others, dir] : others });
  }

  /** @param {() => void} listener @returns {() => void} */
  on(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param {Partial<Chosen>} change */
  #set(change) {
    this.#chosen = { ...this.#chosen, ...change };
    try {
      sessionStorage.setItem(KEY, JSON.stringify(this.#chosen));
    } catch {
      // a page opened from a file may have no storage: the settings then last as long as the page
    }
    for (const listener of this.#listeners) listener();
  }
}

/** Tells the style sheet, and again when the system's changes. @param {Chosen["theme"]} theme */
export function applyTheme(theme) {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset["theme"] = theme === "auto" ? system : theme;
}

/** @returns {Partial<Chosen>} */
function restored() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}
