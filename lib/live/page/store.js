/** @import { Connection } from "./connection.js" */
/** @import { RunInfo, StepRecord, Overview, SeriesAnswer, PipelineStatus } from "../wire.ts" */

/** Number of recent records that are kept whole, for columns that are requested while records arrive. */
const RECENT = 64;

/**
 * The numbers of a run that the page has.
 * @typedef {{ steps: number[], versions: number[], columns: Map<string, (number | null)[]>, recent: StepRecord[] }} Numbers
 */

/** The page's data about the runs: all except numbers immediately, columns on demand. */
export class Store {
  /** @type {RunInfo[]} */
  runs = [];
  /** @type {readonly string[]} */
  stages = [];
  /** @type {"open" | "broken" | "closed"} */
  stream = "closed";
  /** @type {Map<number, Numbers>} */
  #numbers = new Map();
  /** @type {Map<string, Promise<void>>} */
  #loading = new Map();
  /** @type {Set<(what: "steps" | "runs" | "line" | "all") => void>} */
  #listeners = new Set();
  #generation = 0;
  #connection;

  /** @param {Connection} connection */
  constructor(connection) {
    this.#connection = connection;
  }

  /** Loads all data again and listens for the events that follow. */
  async load() {
    this.#generation += 1;
    const overview = /** @type {Overview} */ (await this.#connection.ask("overview"));
    this.runs = [...overview.runs];
    this.stages = overview.stages;
    this.#numbers.clear();
    this.#loading.clear();
    this.#tell("all");
    if (!this.#connection.frozen) this.#listen(overview.cursor);
  }

  /** @param {(what: "steps" | "runs" | "line" | "all") => void} listener @returns {() => void} how to stop */
  on(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param {number} run @returns {readonly number[]} */
  steps(run) {
    return this.#numbers.get(run)?.steps ?? [];
  }

  /**
   * The loaded part of a column; undefined while it is loading.
   * @param {number} run @param {string} name @returns {readonly (number | null)[] | undefined}
   */
  column(run, name) {
    return this.#numbers.get(run)?.columns.get(name);
  }

  /** Loads columns if needed, and resolves when they are loaded. @param {number} run @param {readonly string[]} names */
  async need(run, names) {
    const known = new Set(this.runs[run]?.names ?? []);
    const missing = names.filter((name) => known.has(name) && this.column(run, name) === undefined);
    const fresh = missing.filter((name) => !this.#loading.has(`${run} ${name}`));
    if (fresh.length > 0) {
      const work = this.#fetch(run, fresh).finally(() => {
        for (const name of fresh) this.#loading.delete(`${run} ${name}`);
      });
      for (const name of fresh) this.#loading.set(`${run} ${name}`, work);
    }
    await Promise.all(missing.map((name) => this.#loading.get(`${run} ${name}`)));
  }

  /** @param {number} run @param {string[]} names */
  async #fetch(run, names) {
    const generation = this.#generation;
    const answer = /** @type {SeriesAnswer} */ (await this.#connection.ask("series", { run, name: names }));
    if (generation !== this.#generation) return;
    const numbers = this.#numbers.get(run) ?? emptyNumbers();
    if (numbers.steps.length === 0 && numbers.recent.length === 0) {
      numbers.steps.push(...answer.steps);
      numbers.versions.push(...answer.versions);
    } else if (numbers.columns.size === 0 && answer.steps.length > numbers.steps.length) {
      numbers.steps = [...answer.steps];
      numbers.versions = [...answer.versions];
      for (const record of numbers.recent) addRow(numbers, record);
    }
    this.#numbers.set(run, numbers);
    for (const name of names) numbers.columns.set(name, aligned(numbers, answer, name));
    this.#tell("steps");
  }

  /** @param {string} cursor */
  #listen(cursor) {
    this.#connection.listen(
      cursor,
      {
        step: ({ run, record }) => this.#add(run, record),
        run: (info) => {
          this.runs[info.run] = info;
          this.#tell("runs");
        },
        line: ({ run, status }) => this.#line(run, status),
        reset: () => void this.load(),
      },
      (state) => {
        this.stream = state;
        this.#tell("runs");
      },
    );
  }

  /** @param {number} run @param {StepRecord} record */
  #add(run, record) {
    const numbers = this.#numbers.get(run) ?? emptyNumbers();
    this.#numbers.set(run, numbers);
    numbers.recent.push(record);
    if (numbers.recent.length > RECENT) numbers.recent.shift();
    if (numbers.columns.size > 0) addRow(numbers, record);
    const info = this.runs[run];
    if (info !== undefined) this.runs[run] = { ...info, rows: Math.max(numbers.steps.length, info.rows) };
    this.#tell("steps");
  }

  /** @param {number} run @param {PipelineStatus} status */
  #line(run, status) {
    const info = this.runs[run];
    if (info !== undefined) this.runs[run] = { ...info, status };
    this.#tell("line");
  }

  /** @param {"steps" | "runs" | "line" | "all"} what */
  #tell(what) {
    for (const listener of this.#listeners) listener(what);
  }
}

/** @returns {Numbers} */
const emptyNumbers = () => ({ steps: [], versions: [], columns: new Map(), recent: [] });

/**
 * Adds a step to every column; one that does not follow the last replaces everything from it on, as in the log.
 * @param {Numbers} numbers @param {StepRecord} record
 */
export function addRow(numbers, { step, version, metrics }) {
  while (numbers.steps.length > 0 && /** @type {number} */ (numbers.steps.at(-1)) >= step) {
    numbers.steps.pop();
    numbers.versions.pop();
    for (const column of numbers.columns.values()) column.length = numbers.steps.length;
  }
  numbers.steps.push(step);
  numbers.versions.push(version);
  for (const [name, column] of numbers.columns)
    column.push(Object.hasOwn(metrics, name) ? (metrics[name] ?? null) : null);
}

/**
 * A column aligned with the page's steps, of which some may have been added or removed while it was loading.
 * @param {Numbers} numbers @param {SeriesAnswer} answer @param {string} name @returns {(number | null)[]}
 */
export function aligned({ steps, recent }, answer, name) {
  const values = answer.series[name] ?? [];
  const at = new Map(answer.steps.map((step, i) => [step, values[i] ?? null]));
  for (const { step, metrics } of recent)
    if (Object.hasOwn(metrics, name)) at.set(step, metrics[name] ?? null);
  return steps.map((step) => at.get(step) ?? null);
}
