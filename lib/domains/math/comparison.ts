import type { Budget } from "./budget.ts";
import type { Value } from "./syntax.ts";

/** Options of a comparison of answers. */
export interface Comparison {
  readonly budget: Budget;
  /** Off: labels of the reference, its known false positives included. */
  readonly strict: boolean;
}

/** The whole comparison, for parts of answers that are answers themselves. */
export type Match = (gold: Value, answer: Value, how: Comparison) => boolean;
