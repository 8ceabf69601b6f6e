import type { Tables } from "./tables.ts";

const NONE = 0xffffffff;

/** Rows of each completion's first verdict, which is the run's own, and of its last verdict. */
export class Verdicts {
  readonly #verdicts: Tables["verdicts"];
  #first = new Uint32Array(0);
  #last = new Uint32Array(0);
  #entered = 0;

  constructor(verdicts: Tables["verdicts"]) {
    this.#verdicts = verdicts;
  }

  /** Undefined if the process ended before it wrote the verdict. */
  first(completion: number): number | undefined {
    return this.#at("first", completion);
  }

  last(completion: number): number | undefined {
    return this.#at("last", completion);
  }

  #at(end: "first" | "last", completion: number): number | undefined {
    this.#enter();
    const row = (end === "first" ? this.#first : this.#last)[completion];
    return row === undefined || row === NONE ? undefined : row;
  }

  /** Enters the verdicts added since the last call. */
  #enter(): void {
    const { rows, columns } = this.#verdicts;
    for (; this.#entered < rows; this.#entered++) {
      const completion = columns.completion[this.#entered]!;
      if (completion >= this.#first.length) this.#grow(completion + 1);
      if (this.#first[completion] === NONE) this.#first[completion] = this.#entered;
      this.#last[completion] = this.#entered;
    }
  }

  #grow(completions: number): void {
    const room = Math.max(1024, 2 * completions);
    const grown = (old: Uint32Array<ArrayBuffer>) => {
      const column = new Uint32Array(room).fill(NONE);
      column.set(old);
      return column;
    };
    this.#first = grown(this.#first);
    this.#last = grown(this.#last);
  }
}
