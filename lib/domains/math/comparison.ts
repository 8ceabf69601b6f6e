import type { Budget } from "./budget.ts";
import type { Value } from "./syntax.ts";

/** Options of a comparison of answers. */
export interface Comparison {
  readonly budget: Budget;
  /** False gives the labels of the reference implementation, its known false positives included. */
  readonly strict: boolean;
}

/** Compares parts of answers that are answers themselves, in the same way as whole answers. */
export type Match = (gold: Value, answer: Value, how: Comparison) => boolean;
