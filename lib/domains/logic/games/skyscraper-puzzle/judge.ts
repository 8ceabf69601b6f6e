import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { columnsOf, hasShape, isLatinSquare, sideSchema } from "../../judging/board.ts";
import { firstPythonBlock } from "../../judging/code-block.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { type Cell, readMatrix } from "../../judging/matrix-text.ts";

const TASK = "skyscraper_puzzle";
const clues = z.array(z.int());
const schema = z.object({
  metadata: z
    .object({ n: sideSchema, top: clues, bottom: clues, left: clues, right: clues })
    .refine(
      ({ n, top, bottom, left, right }) => [top, bottom, left, right].every(({ length }) => length === n),
      "a side has not n clues",
    ),
});

/**
 * A latin square of heights in which each line, seen from each end, shows the stated number of buildings;
 * higher ones hide those behind. The answer is read from the first python block whose fences are on separate
 * lines. Strict and reference judge alike.
 */
export const skyscraperPuzzle: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata: { n, top, bottom, left, right } }) {
    const block = firstPythonBlock(answer);
    const board =
      block && (readMatrix(block, "list") ?? readMatrix(block.replace(/#.*$/gm, "").trim(), "list"));
    if (!board) return wrong("no grid in a python block");
    if (!hasShape(board, n, n)) return wrong("grid of another size");
    if (!isLatinSquare(board)) return wrong("a row or column repeats");
    const columns = columnsOf(board);
    const shown = (lines: readonly (readonly Cell[])[], counts: readonly number[]) =>
      lines.every((line, i) => visible(line) === counts[i]);
    const reversed = (lines: readonly (readonly Cell[])[]) => lines.map((line) => [...line].reverse());
    const holds =
      shown(columns, top) &&
      shown(reversed(columns), bottom) &&
      shown(board, left) &&
      shown(reversed(board), right);
    return holds ? correct("every view holds") : wrong("a view does not hold");
  },
};

function visible(line: readonly Cell[]): number {
  let highest = 0;
  let count = 0;
  for (const height of line.map(Number)) {
    if (height > highest) count += 1;
    highest = Math.max(highest, height);
  }
  return count;
}
