import { BudgetExceeded } from "./rational.ts";

/** Work one verdict may spend, in steps of about a tenth of a microsecond: it bounds the verdict's time. */
export const STEPS_PER_VERDICT = 300_000;

/** Counts work down. When none is left, any computation ends by BudgetExceeded. */
export class Budget {
  #left: number;
  constructor(steps: number = STEPS_PER_VERDICT) {
    this.#left = steps;
  }
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetExceeded("too costly to compare");
  }
}
