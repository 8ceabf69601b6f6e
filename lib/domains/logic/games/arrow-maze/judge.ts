import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Board, boardSchema, sameShape, where } from "../../judging/board.ts";
import { bracketedBlocks } from "../../judging/code-block.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { type Cell, nestedSpans, readMatrix } from "../../judging/matrix-text.ts";

const TASK = "arrow_maze";
const BLANK = "X";
const STEPS: ReadonlyMap<Cell, readonly [down: number, right: number]> = new Map([
  ["↑", [-1, 0]],
  ["↓", [1, 0]],
  ["←", [0, -1]],
  ["→", [0, 1]],
  ["↖", [-1, -1]],
  ["↗", [-1, 1]],
  ["↘", [1, 1]],
  ["↙", [1, -1]],
]);
const schema = z.object({
  metadata: z.object({ maze: boardSchema(z.string().regex(/^(?:\d+|[X↑↓←→↖↗↘↙])$/)) }),
});
type Data = z.output<typeof schema>;

/**
 * Arrows fill the blanks so that each number equals the total length of the arrow rays that leave it, and
 * each arrow lies on such a ray. The answer is read from the last fenced block with brackets, else the last
 * `[[...]]`. Reference accepts further numbers in blank cells; strict requires arrows there.
 */
export const arrowMaze: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeGrid(answer, data, { takesNumbers: false }),
  judgeAsReference: (answer, data) => judgeGrid(answer, data, { takesNumbers: true }),
};

function judgeGrid(
  answer: string,
  { metadata: { maze } }: Data,
  { takesNumbers }: { takesNumbers: boolean },
): ScoredVerdict {
  const board = gridIn(answer);
  if (board === undefined) return wrong("no grid of strings");
  if (!sameShape(board, maze)) return wrong("grid of another size");
  if (where(maze, (cell, r, c) => cell !== BLANK && cell !== board[r]![c]).length > 0) {
    return wrong("a given cell was changed");
  }
  const filled = (cell: Cell) => STEPS.has(cell) || (takesNumbers && isNumber(cell));
  if (where(maze, (cell, r, c) => cell === BLANK && !filled(board[r]![c]!)).length > 0) {
    return wrong("a blank holds no arrow");
  }
  const covered = new Set<string>();
  for (const [r, c] of where(board, isNumber)) {
    const before = covered.size;
    for (const [arrow, [down, right]] of STEPS) {
      for (let i = r + down, j = c + right; board[i]?.[j] === arrow; i += down, j += right) {
        covered.add(`${i},${j}`);
      }
    }
    if (covered.size - before !== Number(board[r]![c])) return wrong("rays of another total length");
  }
  const arrows = where(board, (cell) => STEPS.has(cell)).length;
  return covered.size === arrows ? correct("every ray fits") : wrong("an arrow on no ray");
}

const isNumber = (cell: Cell): boolean => typeof cell === "string" && /^\d+$/.test(cell);

function gridIn(answer: string): Board<Cell> | undefined {
  for (const block of bracketedBlocks(answer)) {
    const board = readMatrix(block, "list");
    if (board !== undefined) return board;
  }
  const last = nestedSpans(answer, "square").at(-1);
  return last === undefined ? undefined : readMatrix(last, "list");
}
