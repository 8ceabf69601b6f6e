import type { CounterRandom } from "../../../random.ts";
import { allDifferent, type Constraint, type Model, search, span } from "./finite-domain.ts";
import { linesOf, range } from "./lattice.ts";

/**
 * Model of squares of order n with 1..n once in each row and column, under further constraints. The variables
 * are the cells in reading order.
 */
export function latinModel(n: number, further: readonly Constraint[] = []): Model {
  const lines = linesOf(n, n);
  return {
    domains: range(n * n).map(() => span(1, n)),
    constraints: [...[...lines.rows, ...lines.columns].map((line) => allDifferent(line)), ...further],
  };
}

/** A random solution; every solution can occur, not all with the same probability. */
export function randomSquare(random: CounterRandom, model: Model): number[] {
  const [square] = search(model, { limit: 1, random }).solutions;
  if (square === undefined) throw new RangeError("no such square");
  return [...square];
}
