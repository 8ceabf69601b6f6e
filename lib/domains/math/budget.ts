import { BudgetExceeded } from "./rational.ts";

/** Steps of about a tenth of a microsecond that one verdict may spend: bounds the verdict's time. */
export const STEPS_PER_VERDICT = 300_000;

/** Counts down the remaining work; once it is used up, any computation throws BudgetExceeded. */
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
