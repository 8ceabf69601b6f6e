import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { boardSchema, sameShape, where } from "../../judging/board.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { nestedSpans, readMatrix } from "../../judging/matrix-text.ts";

const TASK = "numbrix";
const BLANK = "X";
const schema = z.object({
  metadata: z.object({
    grid: boardSchema(z.union([z.int(), z.literal(BLANK)])).refine(
      (grid) => grid.length === grid[0]!.length,
      "not a square",
    ),
  }),
});

/**
 * 1..n² along a path of cells that share an edge, through the given numbers. The answer is read from the last
 * `[[...]]` that begins with a digit, quotes dropped. Strict and reference judge alike.
 */
export const numbrix: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata: { grid } }) {
    const last = nestedSpans(answer, "squareDigit").at(-1);
    const board = last === undefined ? undefined : readMatrix(last.replace(/["']/g, ""), "list");
    if (board === undefined) return wrong("no grid of numbers");
    if (!sameShape(board, grid)) return wrong("grid of another size");
    const places = new Map(where(board, () => true).map((place) => [board[place[0]]![place[1]]!, place]));
    const path = Array.from({ length: grid.length ** 2 }, (_, i) => places.get(i + 1));
    if (path.includes(undefined)) return wrong("a number is missing");
    if (where(grid, (cell, r, c) => cell !== BLANK && cell !== board[r]![c]).length > 0) {
      return wrong("a given number was changed");
    }
    const isBroken = path.some((place, i) => {
      const [r, c] = path[i - 1] ?? [];
      return r !== undefined && Math.abs(r - place![0]) + Math.abs(c! - place![1]) !== 1;
    });
    return isBroken ? wrong("two neighbours on the path lie apart") : correct("the path holds");
  },
};
