import { atLevel } from "../../../../data/family.ts";
import { type Model, span, sumWithin } from "../../drawing/finite-domain.ts";
import { linesOf, range, rowsOf } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { drawUntil, hasOneSolution } from "../../drawing/uniqueness.ts";

/** Model of cells 1 or 0: in each line, the 1-based positions of the ones add up to the line's sum. */
export function kukurasuModel(rowSums: readonly number[], columnSums: readonly number[]): Model {
  const lines = linesOf(rowSums.length, columnSums.length);
  const weighted = (sums: readonly number[]) => (line: readonly number[], i: number) =>
    sumWithin(
      line.map((variable, place) => ({ variable, weights: [0, place + 1] })),
      sums[i]!,
      sums[i]!,
    );
  return {
    domains: range(rowSums.length * columnSums.length).map(() => span(0, 1)),
    constraints: [...lines.rows.map(weighted(rowSums)), ...lines.columns.map(weighted(columnSums))],
  };
}

/** Kukurasu puzzles with exactly one solution. */
export const kukurasu: PuzzleGenerator = {
  task: "kukurasu",
  measure: "cells",

  draw(random, level) {
    const n = atLevel([4, 5, 6, 7], level);
    const density = 0.5;
    const lines = linesOf(n, n);
    const { cells, rowSums, columnSums } = drawUntil(() => {
      const cells = range(n * n).map(() => (random.next() < density ? 1 : 0));
      const weigh = (line: readonly number[]) =>
        line.reduce((sum, cell, place) => sum + cells[cell]! * (place + 1), 0);
      const [rowSums, columnSums] = [lines.rows.map(weigh), lines.columns.map(weigh)];
      return hasOneSolution(kukurasuModel(rowSums, columnSums)) ? { cells, rowSums, columnSums } : undefined;
    });
    const solution = rowsOf(
      cells.map((cell) => (cell === 1 ? "1" : "X")),
      n,
    );
    return {
      question: `Put ones into a ${n} x ${n} grid. In each row the column numbers (1 to ${n}, from the left) of its ones add up to the row's sum; in each column the row numbers (1 to ${n}, from the top) of its ones add up to the column's sum.\n\nrow_sums = [${rowSums.join(", ")}]\ncol_sums = [${columnSums.join(", ")}]\n\nGive the grid as a list of lists with "1" for a one and "X" for an empty cell, in double quotes, such as [["1", "X"], ["X", "1"]].`,
      solution: JSON.stringify(solution),
      answer: "",
      metadata: {
        grid: solution.map((row) => row.map(() => "X")),
        row_sums: rowSums,
        col_sums: columnSums,
        solution,
        n,
        m: n,
        ones_probability: density,
      },
      effort: n * n,
    };
  },
};
