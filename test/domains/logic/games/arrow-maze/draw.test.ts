import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import { arrowMaze, arrowMazeModel, raysOf } from "../../../../../lib/domains/logic/games/arrow-maze/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, testGridMutations, testMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly maze: string[][];
  readonly solution: string[][];
}
const ARROWS = ["↑", "↓", "←", "→", "↖", "↗", "↘", "↙"];

testGridMutations(arrowMaze, (puzzle) => metadataOf<Metadata>(puzzle).solution, JSON.stringify);
testMutations(arrowMaze, { "blanks left": (puzzle) => JSON.stringify(metadataOf<Metadata>(puzzle).maze) });

test("rays run to the edge or to the next number", () => {
  const rays = raysOf(3, ["2", "X", "X", "X", "X", "1", "X", "X", "X"]);
  const of = (from: number) =>
    Object.fromEntries(rays.filter((ray) => ray.from === from).map(({ arrow, cells }) => [arrow, cells]));
  expect(of(0)).toEqual({
    "↑": [],
    "↓": [3, 6],
    "←": [],
    "→": [1, 2],
    "↖": [],
    "↗": [],
    "↘": [4, 8],
    "↙": [],
  });
  expect(of(5)).toEqual({ "↑": [2], "↓": [8], "←": [4, 3], "→": [], "↖": [1], "↗": [], "↘": [], "↙": [7] });
});

test("the solver finds as many mazes of 4 x 4 as trying every arrow", () => {
  const counts = draws(arrowMaze, 0, 12).map((puzzle, i) => {
    const solution = metadataOf<Metadata>(puzzle).solution.flat();
    const random = new CounterRandom(i, 12);
    const arrows = range(16).filter((cell) => ARROWS.includes(solution[cell]!));
    const blanks = random.sample(arrows, 3);
    const cells = solution.map((cell, at) => (blanks.includes(at) ? "X" : cell));
    // In every third puzzle a number is changed by one, so that it has no solution or another one.
    const numbers = range(16).filter((cell) => !ARROWS.includes(cells[cell]!) && cells[cell] !== "X");
    if (i % 3 === 0) cells[numbers[0]!] = `${Number(cells[numbers[0]!]) + 1}`;
    const isAccepted = accepts("arrow_maze", { metadata: { maze: rowsOf(cells, 4) } });
    const text = (values: readonly string[]) =>
      JSON.stringify(
        rowsOf(
          cells.map((cell, at) => values[blanks.indexOf(at)] ?? cell),
          4,
        ),
      );
    const byHand = countAccepted(
      blanks.map(() => ARROWS),
      isAccepted,
      text,
    );
    expect([i, search(arrowMazeModel(4, cells), { limit: 1000 }).solutions.length]).toEqual([i, byHand]);
    return byHand;
  });
  expect([counts.includes(0), counts.includes(1)]).toEqual([true, true]);
}, 60_000);

test("the solver finds as many mazes of 2 x 2 as trying every arrow", () => {
  for (const numbers of [
    ["3", "X", "X", "X"],
    ["1", "X", "X", "2"],
    ["1", "X", "X", "1"],
    ["2", "X", "X", "1"],
  ]) {
    const isAccepted = accepts("arrow_maze", { metadata: { maze: rowsOf(numbers, 2) } });
    const choices = numbers.map((cell) => (cell === "X" ? ARROWS : [cell]));
    const byHand = countAccepted(choices, isAccepted, (cells) => JSON.stringify(rowsOf(cells, 2)));
    expect([numbers, search(arrowMazeModel(2, numbers), { limit: 100 }).solutions.length]).toEqual([
      numbers,
      byHand,
    ]);
  }
}, 30_000);

test("the stated maze is the only one", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(arrowMaze, level, 10)) {
      const { maze, solution } = metadataOf<Metadata>(puzzle);
      const n = maze.length;
      const cells = maze.flat();
      const { solutions } = search(arrowMazeModel(n, cells));
      const filled = [...cells];
      for (const [i, ray] of raysOf(n, cells).entries()) {
        for (const cell of ray.cells.slice(0, solutions[0]![i])) filled[cell] = ray.arrow;
      }
      expect([solutions.length, rowsOf(filled, n)]).toEqual([1, solution]);
      expect(puzzle.effort).toBe(cells.filter((cell) => cell === "X").length);
      for (const row of maze) expect(puzzle.question).toContain(JSON.stringify(row));
    }
  }
});
