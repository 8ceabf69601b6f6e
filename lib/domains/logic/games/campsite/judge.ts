import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import {
  AROUND,
  type Board,
  boardSchema,
  columnsOf,
  ORTHOGONAL,
  sameShape,
  touch,
  where,
} from "../../judging/board.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { type Cell, nestedSpans, readMatrix } from "../../judging/matrix-text.ts";

const TASK = "campsite";
const TREE = "T";
const TENT = "C";
const EMPTY = "X";
const counts = z.array(z.int());
const schema = z.object({
  metadata: z
    .object({ grid: boardSchema(z.string()), row_constraints: counts, col_constraints: counts })
    .refine(
      ({ grid, row_constraints: r, col_constraints: c }) =>
        r.length === grid.length && c.length === grid[0]!.length,
      "constraints for another grid",
    ),
});
type Data = z.output<typeof schema>;

/**
 * Tents C beside the trees T, as many in each row and column as stated, none touching another even at a
 * corner, and matched one to one with neighbouring trees. The answer is read from the first `[[...]]`.
 * The reference judge treats any cell other than T and C as empty; the strict judge requires X there.
 */
export const campsite: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) =>
    judgeGrid(answer, data, (cell) => cell === TREE || cell === TENT || cell === EMPTY),
  judgeAsReference: (answer, data) => judgeGrid(answer, data, () => true),
};

function judgeGrid(answer: string, { metadata }: Data, isCell: (cell: Cell) => boolean): ScoredVerdict {
  const { grid, row_constraints, col_constraints } = metadata;
  const first = nestedSpans(answer, "square")[0];
  const board = first === undefined ? undefined : readMatrix(first, "any");
  if (board === undefined) return wrong("no grid");
  if (!sameShape(board, grid)) return wrong("grid of another size");
  if (where(grid, (cell, r, c) => (cell === TREE) !== (board[r]![c] === TREE)).length > 0) {
    return wrong("trees were moved");
  }
  if (where(board, (cell) => !isCell(cell)).length > 0) {
    return wrong("a cell is not T, C or X");
  }
  const isTent = (cell: Cell) => cell === TENT;
  const tents = (line: readonly Cell[]) => line.filter(isTent).length;
  if (!board.every((row, r) => tents(row) === row_constraints[r])) return wrong("a row's tents");
  if (!columnsOf(board).every((column, c) => tents(column) === col_constraints[c])) {
    return wrong("a column's tents");
  }
  if (touch(board, isTent, AROUND)) return wrong("two tents touch");
  return everyTentHasItsTree(board)
    ? correct("every tree has its tent")
    : wrong("trees and tents do not pair");
}

/** Perfect matching of tents and trees by augmenting paths. */
function everyTentHasItsTree(board: Board<Cell>): boolean {
  const tents = where(board, (cell) => cell === TENT);
  const width = board[0]!.length;
  const treesOf = new Map<number, number[]>();
  for (const [r, c] of tents) {
    const beside = ORTHOGONAL.map(([down, right]) => [r + down, c + right] as const);
    const trees = beside.filter(([i, j]) => board[i]?.[j] === TREE);
    treesOf.set(
      r * width + c,
      trees.map(([i, j]) => i * width + j),
    );
  }
  const tentAt = new Map<number, number>();
  const place = (tent: number, tried: Set<number>): boolean =>
    treesOf.get(tent)!.some((tree) => {
      if (tried.has(tree)) return false;
      tried.add(tree);
      const occupant = tentAt.get(tree);
      if (occupant !== undefined && !place(occupant, tried)) return false;
      tentAt.set(tree, tent);
      return true;
    });
  const trees = where(board, (cell) => cell === TREE).length;
  return trees === tents.length && [...treesOf.keys()].every((tent) => place(tent, new Set()));
}
