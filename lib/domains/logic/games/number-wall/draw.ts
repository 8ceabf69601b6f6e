import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { bit, type Constraint, type Model, oneOf, span, sumWithin } from "../../drawing/finite-domain.ts";
import { around, fenced, orthogonal, range, rowsOf, shown } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { drawUntil, hasOneSolution } from "../../drawing/uniqueness.ts";

const WALL = 0;

/** The cell of an island's number, and the island's size in cells. */
export interface Seed {
  readonly cell: number;
  readonly size: number;
}

/** Requires the cells of an island to be connected: excludes cells that are too far from its number through possible cells. */
function hangsTogether(n: number, { cell: start, size }: Seed, island: number): Constraint {
  const near = orthogonal(n, n);
  const cells = range(n * n);
  return {
    variables: cells,
    prune(domains) {
      const may = (cell: number) => (domains.masks[cell]! & bit(island)) !== 0;
      let reached = new Set([start]);
      for (let step = 1; step < size; step++) {
        reached = new Set([...reached, ...[...reached].flatMap((cell) => near[cell]!.filter(may))]);
      }
      return cells.every((cell) => !may(cell) || reached.has(cell) || domains.keep(cell, ~bit(island)));
    },
  };
}

/** Cells are wall (0) or part of the i-th island (i + 1): of its size, connected, not touching another, no 2x2 wall. */
export function numberWallModel(n: number, seeds: readonly Seed[]): Model {
  const cells = range(n * n);
  const islands = range(seeds.length + 1);
  const alike = islands.flatMap((a) =>
    islands.filter((b) => a === b || a === WALL || b === WALL).map((b) => [a, b]),
  );
  const pairs = around(n, n).flatMap((near, a) => near.filter((b) => a < b).map((b) => [a, b]));
  const blocks = cells
    .filter((cell) => cell % n < n - 1 && cell < n * (n - 1))
    .map((cell) => [cell, cell + 1, cell + n, cell + n + 1]);
  const counting = (variables: readonly number[], counts: (value: number) => boolean) =>
    variables.map((variable) => ({ variable, weights: islands.map((value) => Number(counts(value))) }));
  const given = new Map(seeds.map(({ cell }, i) => [cell, bit(i + 1)]));
  return {
    domains: cells.map((cell) => given.get(cell) ?? span(0, seeds.length)),
    constraints: [
      ...seeds.flatMap((seed, i) => [
        hangsTogether(n, seed, i + 1),
        sumWithin(
          counting(cells, (value) => value === i + 1),
          seed.size,
          seed.size,
        ),
      ]),
      ...pairs.map((pair) => oneOf(pair, alike)),
      ...blocks.map((block) =>
        sumWithin(
          counting(block, (value) => value !== WALL),
          1,
          4,
        ),
      ),
    ],
  };
}

/** Adds islands of random shape until no 2x2 block of wall is left; undefined if islands would touch. */
function strew(random: CounterRandom, n: number): { cells: number[]; seeds: Seed[] } | undefined {
  const [near, far] = [orthogonal(n, n), around(n, n)];
  const cells = range(n * n).map(() => WALL);
  const seeds: Seed[] = [];
  for (const start of random.shuffle(range(n * n))) {
    const isFree = (cell: number, island: number) =>
      cells[cell] === WALL && far[cell]!.every((other) => cells[other] === WALL || cells[other] === island);
    const island = seeds.length + 1;
    if (!isFree(start, island)) continue;
    const own = [start];
    cells[start] = island;
    for (const size = random.int(1, 5); own.length < size; ) {
      const open = own.flatMap((cell) => near[cell]!.filter((other) => isFree(other, island)));
      if (open.length === 0) break;
      own.push(random.choice(open));
      cells[own.at(-1)!] = island;
    }
    seeds.push({ cell: random.choice(own), size: own.length });
  }
  const isBlock = range(n * n).some(
    (cell) =>
      cell % n < n - 1 && cell < n * (n - 1) && [0, 1, n, n + 1].every((step) => cells[cell + step] === WALL),
  );
  return isBlock ? undefined : { cells, seeds };
}

/** Puzzles that show each island's number, with exactly one solution. */
export const numberWall: PuzzleGenerator = {
  task: "number_wall",
  measure: "cells",

  draw(random, level) {
    const n = atLevel([4, 5, 6, 7], level);
    const { cells, seeds } = drawUntil(() => {
      const made = strew(random, n);
      return made && hasOneSolution(numberWallModel(n, made.seeds)) ? made : undefined;
    });
    const numberAt = new Map(seeds.map(({ cell, size }) => [cell, size]));
    const grid = rowsOf(
      range(n * n).map((cell) => numberAt.get(cell) ?? "X"),
      n,
    );
    const solution = rowsOf(
      cells.map((island, cell) => numberAt.get(cell) ?? (island === WALL ? "A" : "X")),
      n,
    );
    return {
      question: `Build walls in this ${n} x ${n} grid so that islands remain. An island is a group of cells, joined along edges, that are not wall; each island holds exactly one number and has as many cells as the number says, that of the number included. Islands do not touch each other, not even at a corner. No 2 x 2 block of cells is all wall. X marks a cell without a number.\n\n${shown(grid)}\n\nGive the grid as a list of lists in a python block at the end of your answer: "A" for wall, "X" for other cells, numbers as they are.`,
      solution: fenced(JSON.stringify(solution)),
      answer: "",
      metadata: { grid, solution, n, number_rate: seeds.length / (n * n) },
      effort: n * n,
    };
  },
};
