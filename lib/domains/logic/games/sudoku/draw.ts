import { atLevel } from "../../../../data/family.ts";
import { allDifferent, bit, type Model } from "../../drawing/finite-domain.ts";
import { latinModel, randomSquare } from "../../drawing/latin.ts";
import { fenced, range, rowsOf } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { carve, hasOneSolution } from "../../drawing/uniqueness.ts";

const SIDE = 9;
const CELLS = range(SIDE * SIDE);
const boxOf = (cell: number) => 3 * Math.floor(cell / 27) + Math.floor((cell % SIDE) / 3);
const BOXES = range(SIDE).map((box) => allDifferent(CELLS.filter((cell) => boxOf(cell) === box)));

/** The sudokus with the given digits; 0 is blank. @param given 81 digits in reading order */
export function sudokuModel(given: readonly number[]): Model {
  const model = latinModel(SIDE, BOXES);
  return { ...model, domains: model.domains.map((all, cell) => (given[cell] ? bit(given[cell]) : all)) };
}

/** Sudokus of 9 x 9 with one solution; higher levels remove more digits. */
export const sudoku: PuzzleGenerator = {
  task: "sudoku",
  measure: "blank cells",

  draw(random, level) {
    const blanks = atLevel([12, 28, 40, 50], level);
    const solution = randomSquare(random, sudokuModel([]));
    const without = (taken: readonly number[]) =>
      solution.map((digit, cell) => (taken.includes(cell) ? 0 : digit));
    const taken = carve(random.shuffle(CELLS), blanks, (cells) =>
      hasOneSolution(sudokuModel(without(cells))),
    );
    const original = rowsOf(without(taken), SIDE).map((row) => row.map((digit) => digit || "X"));
    const complete = rowsOf(solution, SIDE);
    const answer = `(${complete.map((row) => `(${row.join(", ")})`).join(", ")})`;
    const lines = original.map((row) => row.join(""));
    return {
      question: `Solve this 9 x 9 sudoku. X marks a cell to fill; each row, each column and each of the nine 3 x 3 boxes holds the digits 1 to 9 once.\n\n${lines.join("\n")}\n\nGive the whole grid as a tuple of nine tuples in a python block, such as\n\`\`\`python\n((1, 2, 3, 4, 5, 6, 7, 8, 9), ...)\n\`\`\``,
      solution: fenced(answer),
      answer,
      metadata: {
        original_sudoku: original,
        complete_sudoku: complete,
        difficulty: level + 1,
        unique_solution: true,
      },
      effort: taken.length,
    };
  },
};
