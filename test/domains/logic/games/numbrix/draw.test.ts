import { expect, test } from "vitest";
import { range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import { numbrix, numbrixPaths } from "../../../../../lib/domains/logic/games/numbrix/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, testGridMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly grid: (number | string)[][];
  readonly solution: number[][];
  readonly n: number;
}

testGridMutations(numbrix, (puzzle) => metadataOf<Metadata>(puzzle).solution, JSON.stringify);

// Directed Hamiltonian paths of the n x n grid graph: OEIS A096969.
test.each([
  [1, 1],
  [2, 8],
  [3, 40],
])("an empty grid of side %i holds the known number of paths: %i", (n, count) => {
  const { paths, complete } = numbrixPaths(
    n,
    range(n * n).map(() => 0),
    1000,
  );
  expect([paths.length, complete]).toEqual([count, true]);
});

test("with given numbers there remain the paths through them", () => {
  const all = numbrixPaths(
    3,
    range(9).map(() => 0),
    1000,
  ).paths;
  const counts = range(60).map((seed) => {
    const random = new CounterRandom(seed, 11);
    const path = random.choice(all);
    const shown = random.sample(range(9), random.int(1, 4));
    const given = path.map((number, cell) => (shown.includes(cell) ? number : 0));
    if (seed % 5 === 0) given[shown[0]!] = ((given[shown[0]!]! + 3) % 9) + 1;
    const through = all.filter((other) =>
      given.every((number, cell) => number === 0 || number === other[cell]),
    );
    const isAccepted = accepts("numbrix", {
      metadata: {
        grid: rowsOf(
          given.map((number) => number || "X"),
          3,
        ),
      },
    });
    expect(all.filter((other) => isAccepted(JSON.stringify(rowsOf(other, 3)))).length).toBe(through.length);
    const { paths } = numbrixPaths(3, given, 1000);
    expect([seed, paths.map(String).sort()]).toEqual([seed, through.map(String).sort()]);
    return through.length;
  });
  expect([counts.includes(0), counts.includes(1), new Set(counts).size > 3]).toEqual([true, true, true]);
});

test("it stops at the limit and says when it gave up", () => {
  expect(
    numbrixPaths(
      4,
      range(16).map(() => 0),
    ).paths.length,
  ).toBe(2);
  expect(
    numbrixPaths(
      7,
      range(49).map(() => 0),
      1_000_000,
    ).complete,
  ).toBe(false);
});

test("the stated path is the only one", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(numbrix, level, 40)) {
      const { grid, solution, n } = metadataOf<Metadata>(puzzle);
      const given = grid.flat().map((cell) => (cell === "X" ? 0 : Number(cell)));
      expect(numbrixPaths(n, given)).toEqual({ paths: [solution.flat()], complete: true });
      expect(puzzle.effort).toBe(given.filter((number) => number === 0).length);
      expect(puzzle.question).toContain(grid.map((row) => row.join(" ")).join("\n"));
    }
  }
});
