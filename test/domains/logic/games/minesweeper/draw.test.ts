import { expect, test } from "vitest";
import { around, range } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import type { Puzzle } from "../../../../../lib/domains/logic/drawing/puzzle.ts";
import {
  certainMines,
  minesweeper,
  oneStepMines,
} from "../../../../../lib/domains/logic/games/minesweeper/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { assignments, testMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly revealed_grid: string[][];
  readonly full_grid: string[][];
  readonly current_mines: [number, number][];
  readonly n: number;
}

const minesOf = (puzzle: Puzzle) => metadataOf<Metadata>(puzzle).current_mines;
const write = (mines: readonly (readonly number[])[]) =>
  `[${mines.map((mine) => `(${mine.join(", ")})`).join(", ")}]`;

testMutations(minesweeper, {
  "a mine missing": (puzzle) => write(minesOf(puzzle).slice(1)),
  "a mine too many": (puzzle) => write([...minesOf(puzzle), [99, 0]]),
  "counted from 1": (puzzle) => write(minesOf(puzzle).map(([r, c]) => [r + 1, c + 1])),
  "one moved": (puzzle) => write(minesOf(puzzle).map(([r, c], i) => [r, i === 0 ? c + 50 : c])),
  "every hidden cell": (puzzle) => {
    const { revealed_grid } = metadataOf<Metadata>(puzzle);
    const hidden = revealed_grid.flatMap((row, r) =>
      row.flatMap((cell, c) => (cell === "X" ? [[r, c]] : [])),
    );
    return write(hidden.length > minesOf(puzzle).length ? hidden : []);
  },
});

/** Finds the certain mines by trying every arrangement. */
function byHand(n: number, revealed: readonly (number | undefined)[]): number[] {
  const near = around(n, n);
  const hidden = range(n * n).filter((cell) => revealed[cell] === undefined);
  const possible = [...assignments(hidden.map(() => [0, 1]))]
    .map((values) => new Set(hidden.filter((_, i) => values[i] === 1)))
    .filter((mines) =>
      revealed.every(
        (count, cell) => count === undefined || near[cell]!.filter((o) => mines.has(o)).length === count,
      ),
    );
  return hidden.filter((cell) => possible.every((mines) => mines.has(cell)));
}

test("certain mines are those of every arrangement that fits", () => {
  let beyondOneStep = 0;
  for (const seed of range(80)) {
    const random = new CounterRandom(seed, 9);
    const mined = range(16).map(() => random.next() < 0.25);
    const near = around(4, 4);
    const revealed = mined.map((isMine, cell) =>
      isMine || random.next() < 0.3 ? undefined : near[cell]!.filter((other) => mined[other]).length,
    );
    const certain = byHand(4, revealed);
    expect([seed, certainMines(4, revealed)]).toEqual([seed, certain]);
    const oneStep = oneStepMines(4, revealed);
    expect(oneStep.every((cell) => certain.includes(cell))).toBe(true);
    beyondOneStep += Number(oneStep.length < certain.length);
  }
  expect(beyondOneStep).toBeGreaterThan(0);
});

test.each([
  [[1, undefined, 0, 0], [1]],
  [[undefined, undefined, undefined, 1], []],
  [
    [undefined, undefined, undefined, 3],
    [0, 1, 2],
  ],
])("%j has the certain mines %j by one step", (revealed, mines) => {
  expect(oneStepMines(2, revealed)).toEqual(mines);
});

test("the stored mines are all certain ones, one step away, and mines of the field", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(minesweeper, level, 20)) {
      const { revealed_grid, full_grid, n } = metadataOf<Metadata>(puzzle);
      const revealed = revealed_grid.flat().map((cell) => (cell === "X" ? undefined : Number(cell)));
      const cells = minesOf(puzzle).map(([row, column]) => row * n + column);
      expect([cells, cells]).toEqual([certainMines(n, revealed), oneStepMines(n, revealed)]);
      expect(cells.every((cell) => full_grid.flat()[cell] === "M")).toBe(true);
      expect(
        revealed.every((count, cell) => count === undefined || full_grid.flat()[cell] === `${count}`),
      ).toBe(true);
      expect(puzzle.question).toContain(revealed_grid.map((row) => row.join(" ")).join("\n"));
    }
  }
});
