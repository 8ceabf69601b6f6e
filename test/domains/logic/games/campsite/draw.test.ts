import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import { campsite, campsiteModel } from "../../../../../lib/domains/logic/games/campsite/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, testGridMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly grid: string[][];
  readonly solution: string[][];
  readonly row_constraints: number[];
  readonly col_constraints: number[];
}

testGridMutations(campsite, (puzzle) => metadataOf<Metadata>(puzzle).solution, JSON.stringify);

const treesIn = (grid: string[][]) => grid.flat().flatMap((cell, i) => (cell === "T" ? [i] : []));

test("the solver finds as many camps of 3 x 4 as trying all", () => {
  const counts = range(20).map((seed) => {
    const random = new CounterRandom(seed, 7);
    const trees = random.sample(range(12), 3);
    const tents = random.sample(
      range(12).filter((cell) => !trees.includes(cell)),
      seed % 4 === 0 ? 4 : 3,
    );
    const rowCounts = range(3).map((row) => tents.filter((cell) => Math.floor(cell / 4) === row).length);
    const columnCounts = range(4).map((column) => tents.filter((cell) => cell % 4 === column).length);
    const grid = rowsOf(
      range(12).map((cell) => (trees.includes(cell) ? "T" : "X")),
      4,
    );
    const isAccepted = accepts("campsite", {
      metadata: { grid, row_constraints: rowCounts, col_constraints: columnCounts },
    });
    const choices = range(12).map((cell) => (trees.includes(cell) ? ["T"] : ["X", "C"]));
    const byHand = countAccepted(choices, isAccepted, (cells) => JSON.stringify(rowsOf(cells, 4)));
    const model = campsiteModel({ rows: 3, columns: 4, trees, rowCounts, columnCounts });
    expect([seed, search(model, { limit: 100 }).solutions.length]).toEqual([seed, byHand]);
    return byHand;
  });
  expect(Math.max(...counts)).toBeGreaterThan(0);
}, 30_000);

test("the stated camp is the only one", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(campsite, level, 25)) {
      const { grid, solution, row_constraints, col_constraints } = metadataOf<Metadata>(puzzle);
      const [rows, columns] = [grid.length, grid[0]!.length];
      const camp = {
        rows,
        columns,
        trees: treesIn(grid),
        rowCounts: row_constraints,
        columnCounts: col_constraints,
      };
      expect(search(campsiteModel(camp)).solutions).toEqual([
        solution.flat().map((cell) => Number(cell === "C")),
      ]);
      expect(treesIn(solution)).toEqual(treesIn(grid));
      expect(puzzle.question).toContain(
        `${grid.map((row) => row.join(" ")).join("\n")}\n\nrow_constraints = [${row_constraints.join(", ")}]`,
      );
    }
  }
});

// Deliberate faults (mutants) that these tests detect: tents without their own tree are accepted.
test("a tent more than trees is no camp, though the counts hold", () => {
  const camp = { rows: 1, columns: 5, trees: [1, 3], rowCounts: [3], columnCounts: [1, 0, 1, 0, 1] };
  expect(search(campsiteModel(camp)).solutions).toEqual([]);
  expect(search(campsiteModel({ ...camp, rowCounts: [2], columnCounts: [1, 0, 1, 0, 0] })).solutions).toEqual(
    [[1, 0, 1, 0, 0]],
  );
});
