import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { bit, type Model, ones, search, span, sumWithin } from "../../drawing/finite-domain.ts";
import { around, range, rowsOf, shown } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { drawUntil } from "../../drawing/uniqueness.ts";

const MINE_DENSITY = 0.18;
const REVEALED = 0.45;

/**
 * Model of the mines (1) around the revealed cells. @param revealed number of mines around a cell, or
 * undefined where hidden.
 */
function minesweeperModel(n: number, revealed: readonly (number | undefined)[]): Model {
  const near = around(n, n);
  const counted = revealed.flatMap((count, cell) =>
    count === undefined ? [] : [sumWithin(ones(near[cell]!), count, count)],
  );
  return {
    domains: revealed.map((count) => (count === undefined ? span(0, 1) : bit(0))),
    constraints: counted,
  };
}

/**
 * The cells that contain a mine in every arrangement consistent with the revealed cells; undefined if the search
 * gives up. Each arrangement found excludes all cells without a mine in it.
 */
export function certainMines(n: number, revealed: readonly (number | undefined)[]): number[] | undefined {
  const model = minesweeperModel(n, revealed);
  let open = range(n * n).filter((cell) => revealed[cell] === undefined);
  const certain: number[] = [];
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    const clear = model.domains.map((all, other) => (other === cell ? bit(0) : all));
    const { solutions, complete } = search({ ...model, domains: clear }, { limit: 1, maxNodes: 500 });
    if (!complete) return undefined;
    const [arrangement] = solutions;
    if (arrangement === undefined) certain.push(cell);
    else open = open.filter((other) => arrangement[other] === 1);
  }
  return certain.sort((a, b) => a - b);
}

/** Mines found in one step: the hidden cells around a number that has exactly as many hidden cells as mines. */
export function oneStepMines(n: number, revealed: readonly (number | undefined)[]): number[] {
  const near = around(n, n);
  const found = revealed.flatMap((count, cell) => {
    const hidden = near[cell]!.filter((other) => revealed[other] === undefined);
    return count === hidden.length ? hidden : [];
  });
  return [...new Set(found)].sort((a, b) => a - b);
}

function lay(random: CounterRandom, n: number) {
  const near = around(n, n);
  const mined = range(n * n).map(() => random.next() < MINE_DENSITY);
  const counts = near.map((others) => others.filter((other) => mined[other]).length);
  const revealed = counts.map((count, cell) =>
    !mined[cell] && random.next() < REVEALED ? count : undefined,
  );
  return { mined, counts, revealed };
}

/** Partly revealed fields whose certain mines are exactly those found in one step, so that the stored list is complete. */
export const minesweeper: PuzzleGenerator = {
  task: "minesweeper",
  measure: "hidden cells",

  draw(random, level) {
    const n = atLevel([5, 6, 7, 8], level);
    const { mined, counts, revealed, mines } = drawUntil(() => {
      const field = lay(random, n);
      const mines = oneStepMines(n, field.revealed);
      if (mines.length === 0 || certainMines(n, field.revealed)?.length !== mines.length) return undefined;
      return { ...field, mines };
    });
    const places = mines.map((cell) => [Math.floor(cell / n), cell % n] as const);
    const shownCell = (cell: number) => (mined[cell] ? "M" : `${counts[cell]}`);
    const revealed_grid = rowsOf(
      revealed.map((count) => (count === undefined ? "X" : `${count}`)),
      n,
    );
    return {
      question: `In this ${n} x ${n} minesweeper field a number says how many of the up to eight cells around it hold mines; X marks a hidden cell. Find all hidden cells that must hold a mine: those around a number that has exactly as many hidden cells around it as mines.\n\n${shown(revealed_grid)}\n\nList them as (row, column) pairs, both counted from 0, such as [(0, 1), (2, 3)].`,
      solution: `[${places.map(([row, column]) => `(${row}, ${column})`).join(", ")}]`,
      answer: "",
      metadata: {
        full_grid: rowsOf(range(n * n).map(shownCell), n),
        revealed_grid,
        current_mines: places,
        n,
        mine_den: MINE_DENSITY,
        reveal_frac: REVEALED,
      },
      effort: revealed.filter((count) => count === undefined).length,
    };
  },
};
