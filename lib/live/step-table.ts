import type { StepRecord } from "../records.ts";

/** Numbers that grow at the end; NaN if missing. */
class Column {
  #values = new Float64Array(64).fill(Number.NaN);

  set(row: number, value: number): void {
    if (row >= this.#values.length) {
      const wider = new Float64Array(Math.max(row + 1, 2 * this.#values.length)).fill(Number.NaN);
      wider.set(this.#values);
      this.#values = wider;
    }
    this.#values[row] = value;
  }

  cut(rows: number): void {
    this.#values.fill(Number.NaN, rows);
  }

  values(from: number, rows: number): (number | null)[] {
    return Array.from({ length: rows - from }, (_, i) => finite(this.#values[from + i]));
  }
}

const finite = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

/** One row of the log. */
export interface Row {
  readonly record: StepRecord;
  /** Bytes of the log up to the end of the step's line. */
  readonly end: number;
}

/**
 * The steps of a run by column, in ascending order. A step that does not follow the previous one (a run resumed from
 * an older checkpoint) replaces everything from it on, so that several sessions form one history. Takes eight bytes
 * per number of the kept metrics.
 */
export class StepTable {
  readonly steps: number[] = [];
  readonly versions: number[] = [];
  /** Bytes of the log up to the end of each row's line. */
  readonly ends: number[] = [];
  /** Columns by metric; undefined for a metric whose numbers are not kept. */
  readonly #columns = new Map<string, Column | undefined>();
  readonly #keeps: (metric: string) => boolean;

  /** @param keeps true for metrics whose numbers are kept; for others only the name is kept. Default: all */
  constructor(keeps: (metric: string) => boolean = () => true) {
    this.#keeps = keeps;
  }

  get length(): number {
    return this.steps.length;
  }

  /** Names of all metrics seen, in the order of their first appearance. */
  get names(): string[] {
    return [...this.#columns.keys()];
  }

  /** Registers names of metrics that later rows will have. */
  name(names: Iterable<string>): void {
    for (const name of names) this.#column(name);
  }

  add({ record, end }: Row): void {
    this.#rewind(record.step);
    const row = this.steps.push(record.step) - 1;
    this.versions.push(record.version);
    this.ends.push(end);
    for (const name in record.metrics) this.#column(name)?.set(row, record.metrics[name]!);
  }

  clear(): void {
    this.#rewind(Number.NEGATIVE_INFINITY);
    this.#columns.clear();
  }

  /** Values of a metric from a row on, null for steps without it; undefined if no step ever had it. */
  column(name: string, from = 0): (number | null)[] | undefined {
    return this.#columns.get(name)?.values(from, this.length);
  }

  row(index: number): Row {
    const metrics: Record<string, number> = {};
    for (const [name, column] of this.#columns) {
      const [value] = column?.values(index, index + 1) ?? [];
      if (value !== null && value !== undefined) metrics[name] = value;
    }
    const record = { step: this.steps[index]!, version: this.versions[index]!, metrics };
    return { record, end: this.ends[index]! };
  }

  /** The first row whose line ends beyond `end` bytes of the log; `length` if there is none. */
  rowAfter(end: number): number {
    const index = this.ends.findIndex((at) => at > end);
    return index < 0 ? this.length : index;
  }

  #rewind(step: number): void {
    const before = this.length;
    while (this.length > 0 && this.steps.at(-1)! >= step) {
      this.steps.pop();
      this.versions.pop();
      this.ends.pop();
    }
    if (this.length < before) for (const column of this.#columns.values()) column?.cut(this.length);
  }

  #column(name: string): Column | undefined {
    if (this.#columns.has(name)) return this.#columns.get(name);
    const column = this.#keeps(name) ? new Column() : undefined;
    this.#columns.set(name, column);
    return column;
  }
}
