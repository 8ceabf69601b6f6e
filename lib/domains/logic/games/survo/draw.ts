import { atLevel } from "../../../../data/family.ts";
import { type Model, span, sumWithin } from "../../drawing/finite-domain.ts";
import { fenced, linesOf, range, rowsOf } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { drawUntil, hasOneSolution } from "../../drawing/uniqueness.ts";

const LARGEST = 9;
const BLANK = 0;

/**
 * Ways to fill the blanks of the inner cells; variable i is the i-th blank, its value an index into the distinct
 * candidates, ascending. Each row's and column's cells add up to its sum, each candidate is used as often as listed.
 * @param cells inner cells in reading order, 0 where blank.
 */
export function survoModel(
  cells: readonly number[],
  sums: { rows: readonly number[]; columns: readonly number[] },
  candidates: readonly number[],
): Model {
  const values = [...new Set(candidates)].sort((a, b) => a - b);
  const blanks = range(cells.length).filter((cell) => cells[cell] === BLANK);
  const lines = linesOf(sums.rows.length, sums.columns.length);
  const adding = (wanted: readonly number[]) => (line: readonly number[], i: number) => {
    const left = wanted[i]! - line.reduce((sum, cell) => sum + cells[cell]!, 0);
    const open = line.filter((cell) => cells[cell] === BLANK);
    return sumWithin(
      open.map((cell) => ({ variable: blanks.indexOf(cell), weights: values })),
      left,
      left,
    );
  };
  const used = values.map((value, index) => {
    const times = candidates.filter((candidate) => candidate === value).length;
    const weights = values.map((_, other) => Number(other === index));
    return sumWithin(
      blanks.map((_, variable) => ({ variable, weights })),
      times,
      times,
    );
  });
  return {
    domains: blanks.map(() => span(0, values.length - 1)),
    constraints: [...lines.rows.map(adding(sums.rows)), ...lines.columns.map(adding(sums.columns)), ...used],
  };
}

/** Matrices bordered by their sums, with one solution. */
export const survo: PuzzleGenerator = {
  task: "survo",
  measure: "blank cells",

  draw(random, level) {
    const side = atLevel([3, 3, 4, 4], level);
    const x = atLevel([3, 5, 7, 9], level);
    const lines = linesOf(side, side);
    const { inner, taken, candidates } = drawUntil(() => {
      const inner = range(side * side).map(() => random.int(1, LARGEST));
      const taken = random.sample(range(side * side), x);
      const candidates = taken.map((cell) => inner[cell]!);
      const total = (line: readonly number[]) => line.reduce((sum, cell) => sum + inner[cell]!, 0);
      const sums = { rows: lines.rows.map(total), columns: lines.columns.map(total) };
      const cells = inner.map((value, cell) => (taken.includes(cell) ? BLANK : value));
      return hasOneSolution(survoModel(cells, sums, candidates)) ? { inner, taken, candidates } : undefined;
    });
    const bordered = (cells: readonly number[]) => {
      const withSum = (line: readonly number[], real: readonly number[]) => [
        ...line,
        real.reduce((a, b) => a + b),
      ];
      const rows = rowsOf(cells, side).map((row, r) => withSum(row, rowsOf(inner, side)[r]!));
      const totals = lines.columns.map((column) => column.reduce((sum, cell) => sum + inner[cell]!, 0));
      return [...rows, withSum(totals, totals)];
    };
    const original_matrix = bordered(inner.map((value, cell) => (taken.includes(cell) ? BLANK : value)));
    const filled_matrix = bordered(inner);
    const candidate_numbers = random.shuffle(candidates);
    const cells = original_matrix.map((row) => `[${row.map((value) => value || "X").join(", ")}]`);
    const answer = `[${filled_matrix.map((row) => `[${row.join(", ")}]`).join(", ")}]`;
    return {
      question: `In this ${side + 1}*${side + 1} matrix the last number of each row and of each column is the sum of the numbers before it:\n${cells.join("\n")}\nFill the cells marked X with the numbers [${candidate_numbers.join(", ")}], each used once.\n\nGive the whole matrix as a list of lists of numbers, alone in a python block at the end of your answer.`,
      solution: fenced(answer),
      answer,
      metadata: {
        original_matrix,
        filled_matrix,
        candidate_numbers,
        n: side + 1,
        x,
        min_num: 1,
        max_num: LARGEST,
      },
      effort: x,
    };
  },
};
