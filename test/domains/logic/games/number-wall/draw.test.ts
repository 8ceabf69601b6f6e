import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { fenced, range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import { numberWall, numberWallModel } from "../../../../../lib/domains/logic/games/number-wall/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, testGridMutations } from "../../drawing/mutations.ts";

// Deliberate faults (mutants) that these tests detect: islands may touch at a corner.

interface Metadata {
  readonly grid: (number | string)[][];
  readonly solution: (number | string)[][];
  readonly n: number;
}

const write = (rows: unknown) => fenced(JSON.stringify(rows));
const seedsIn = (grid: readonly (number | string)[]) =>
  grid.flatMap((size, cell) => (typeof size === "number" ? [{ cell, size }] : []));

testGridMutations(numberWall, (puzzle) => metadataOf<Metadata>(puzzle).solution, write);

test("the solver finds as many walls of 3 x 3 as trying all", () => {
  const counts = range(60).map((seed) => {
    const random = new CounterRandom(seed, 13);
    const places = random.sample(range(9), random.int(1, 3));
    const grid = range(9).map((cell) => (places.includes(cell) ? random.int(1, 4) : "X"));
    const isAccepted = accepts("number_wall", { metadata: { grid: rowsOf(grid, 3) } });
    const choices = grid.map((cell): (number | string)[] => (cell === "X" ? ["X", "A"] : [cell]));
    const byHand = countAccepted(choices, isAccepted, (cells) => JSON.stringify(rowsOf(cells, 3)));
    expect([seed, search(numberWallModel(3, seedsIn(grid)), { limit: 100 }).solutions.length]).toEqual([
      seed,
      byHand,
    ]);
    return byHand;
  });
  expect([counts.includes(0), counts.includes(1), Math.max(...counts) > 1]).toEqual([true, true, true]);
}, 30_000);

test("the stated walls are the only ones", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(numberWall, level, 15)) {
      const { grid, solution, n } = metadataOf<Metadata>(puzzle);
      const { solutions, complete } = search(numberWallModel(n, seedsIn(grid.flat())));
      const walls = solutions.map((cells) => cells.map((island) => island === 0));
      expect([complete, walls]).toEqual([true, [solution.flat().map((cell) => cell === "A")]]);
      expect(solution.flat().filter((cell) => cell !== "A" && cell !== "X").length).toBe(
        seedsIn(grid.flat()).length,
      );
      expect(puzzle.question).toContain(grid.map((row) => row.join(" ")).join("\n"));
    }
  }
});
