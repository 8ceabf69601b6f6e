import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { columnsOf, hasShape, sideSchema } from "../../judging/board.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { cellGrids } from "../../judging/matrix-text.ts";

const TASK = "kukurasu";
const schema = z.object({
  metadata: z.object({
    row_sums: z.array(z.int()),
    col_sums: z.array(z.int()),
    n: sideSchema,
    m: sideSchema,
  }),
});

/**
 * Ones in a grid of X: the column numbers of a row's ones add up to the row's sum, the row numbers of a
 * column's ones to the column's. The answer is read from the first `[["X","1",...],...]`, double quotes only.
 * Strict and reference judge alike.
 */
export const kukurasu: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata: { row_sums, col_sums, n, m } }) {
    const [board] = cellGrids(answer, /"[X1]"/y);
    if (board === undefined) return wrong('no grid of "1" and "X"');
    if (!hasShape(board, n, m)) return wrong("grid of another size");
    const weighted = (line: readonly string[]) =>
      line.reduce((sum, cell, i) => sum + (cell === '"1"' ? i + 1 : 0), 0);
    if (!sameNumbers(board.map(weighted), row_sums)) return wrong("a row's sum");
    if (!sameNumbers(columnsOf(board).map(weighted), col_sums)) return wrong("a column's sum");
    return correct("every sum holds");
  },
};

const sameNumbers = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((value, i) => value === b[i]);
