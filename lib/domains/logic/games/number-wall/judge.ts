import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { AROUND, type Board, boardSchema, ORTHOGONAL, sameShape, where } from "../../judging/board.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { cellGrids } from "../../judging/matrix-text.ts";

const TASK = "number_wall";
const WALL = "A";
const schema = z.object({ metadata: z.object({ grid: boardSchema(z.union([z.int(), z.string()])) }) });
type Data = z.output<typeof schema>;

type WallCell = number | string;

/**
 * Walls A cut the grid into islands of one number each, with that many cells; islands share no edge or
 * corner, and no 2x2 block is all wall. The answer is read from the last grid of X, A and numbers (quoted or
 * not). Reference accepts further numbers in open cells; strict allows the given ones only.
 */
export const numberWall: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeGrid(answer, data, { takesNumbers: false }),
  judgeAsReference: (answer, data) => judgeGrid(answer, data, { takesNumbers: true }),
};

function judgeGrid(
  answer: string,
  { metadata: { grid } }: Data,
  { takesNumbers }: { takesNumbers: boolean },
): ScoredVerdict {
  const last = cellGrids(answer, /"[XA]"|'[XA]'|\d+|"\d+"|'\d+'/y).at(-1);
  if (last === undefined) return wrong("no grid of X, A and numbers");
  const board = last.map((row) => row.map(cellOf));
  if (!sameShape(board, grid)) return wrong("grid of another size");
  if (where(grid, (cell, r, c) => typeof cell === "number" && cell !== board[r]![c]).length > 0) {
    return wrong("a number was changed");
  }
  const added = where(board, (cell, r, c) => typeof cell === "number" && cell !== grid[r]![c]);
  if (!takesNumbers && added.length > 0) return wrong("a number was added");
  const isWall = (r: number, c: number) => board[r]?.[c] === WALL;
  const block = (r: number, c: number) => [
    isWall(r, c),
    isWall(r + 1, c),
    isWall(r, c + 1),
    isWall(r + 1, c + 1),
  ];
  if (where(board, (_, r, c) => block(r, c).every(Boolean)).length > 0) return wrong("a 2x2 block of wall");
  return islandsHold(board) ? correct("every island fits") : wrong("an island does not fit");
}

/** Rejects a bare number with a leading zero, which is not Python; reads a quoted number as int() does. */
function cellOf(text: string): WallCell {
  if (/^0\d/.test(text)) return Number.NaN;
  const bare = text.replace(/["']/g, "");
  return /^\d/.test(bare) ? Number(bare) : bare;
}

function islandsHold(board: Board<WallCell>): boolean {
  const islandAt = new Map<string, number>();
  const starts = where(board, (cell) => cell !== WALL);
  for (const [island, start] of starts.entries()) {
    if (islandAt.has(String(start))) continue;
    const cells = [start];
    islandAt.set(String(start), island);
    for (const [r, c] of cells) {
      for (const [down, right] of ORTHOGONAL) {
        const next: [number, number] = [r + down, c + right];
        const cell = board[next[0]]?.[next[1]];
        if (cell === undefined || cell === WALL || islandAt.has(String(next))) continue;
        islandAt.set(String(next), island);
        cells.push(next);
      }
    }
    const numbers = cells.map(([r, c]) => board[r]![c]!).filter((cell) => typeof cell === "number");
    if (numbers.length !== 1 || numbers[0] !== cells.length) return false;
  }
  return starts.every(([r, c]) =>
    AROUND.every(([down, right]) => {
      const other = islandAt.get(`${r + down},${c + right}`);
      return other === undefined || other === islandAt.get(`${r},${c}`);
    }),
  );
}
