import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { boardSchema, hasShape, isLatinSquare, isPermutation, where } from "../../judging/board.ts";
import { pythonBlocks } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { nestedSpans, readMatrix } from "../../judging/matrix-text.ts";

const TASK = "sudoku";
const SIDE = 9;
const BLANKS: readonly (string | number)[] = [0, "X", "x"];
const schema = z.object({
  metadata: z.object({
    original_sudoku: boardSchema(z.union([z.int().min(0).max(SIDE), z.string().regex(/^[1-9Xx]$/)])).refine(
      (board) => hasShape(board, SIDE, SIDE),
      "not 9 x 9",
    ),
  }),
});

/**
 * A 9 x 9 sudoku: 1..9 in every row, column and 3 x 3 box, givens kept. The answer is read from the last
 * python block, else the last `((...))`; accepts lists and tuples. Strict and reference judge alike.
 */
export const sudoku: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata: { original_sudoku: given } }) {
    const stated = pythonBlocks(answer).at(-1) ?? nestedSpans(answer, "roundNumber").at(-1);
    const board = stated === undefined ? undefined : readMatrix(stated, "any");
    if (board === undefined) return wrong("no tuple of rows");
    if (!hasShape(board, SIDE, SIDE)) return wrong("grid of another size");
    if (where(given, (cell, r, c) => !BLANKS.includes(cell) && Number(cell) !== board[r]![c]).length > 0) {
      return wrong("a given digit was changed");
    }
    if (!isLatinSquare(board)) return wrong("a row or column repeats");
    const boxes = Array.from({ length: SIDE }, (_, box) =>
      Array.from({ length: SIDE }, (_, i) => {
        const row = 3 * Math.floor(box / 3) + Math.floor(i / 3);
        return board[row]![3 * (box % 3) + (i % 3)]!;
      }),
    );
    return boxes.every(isPermutation) ? correct("a valid sudoku") : wrong("a box repeats");
  },
};
