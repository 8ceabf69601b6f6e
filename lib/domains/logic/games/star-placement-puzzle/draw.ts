import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { type Constraint, type Model, ones, search, span, sumWithin } from "../../drawing/finite-domain.ts";
import { around, fenced, linesOf, orthogonal, range, rowsOf } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { growRegions, moveBorder, type RegionMap } from "../../drawing/regions.ts";
import { drawUntil } from "../../drawing/uniqueness.ts";

const LETTERS = "ABCDEFGH";
const MAX_MOVES = 60;

/**
 * One star in each row, column and region, none touching another; a cell with a star is 1. Without regions, only the
 * other rules hold.
 */
export function starModel(n: number, regions?: RegionMap): Model {
  const { rows, columns } = linesOf(n, n);
  const lists =
    regions === undefined
      ? []
      : range(n).map((region) => range(n * n).filter((cell) => regions[cell] === region));
  const one = (cells: readonly number[]): Constraint => sumWithin(ones(cells), 1, 1);
  const pairs = around(n, n).flatMap((near, a) => near.filter((b) => a < b).map((b) => [a, b]));
  return {
    domains: range(n * n).map(() => span(0, 1)),
    constraints: [
      ...[...rows, ...columns, ...lists].map(one),
      ...pairs.map((pair) => sumWithin(ones(pair), 0, 1)),
    ],
  };
}

/** Regions around the stars; moves borders to exclude further solutions until there is none. */
function regionsFor(random: CounterRandom, n: number, stars: readonly number[]): RegionMap | undefined {
  const near = orthogonal(n, n);
  let regions: RegionMap | undefined = growRegions(
    random,
    near,
    stars.map((star) => [star]),
  );
  for (let i = 0; i < MAX_MOVES && regions !== undefined; i++) {
    const { solutions } = search(starModel(n, regions));
    if (solutions.length === 1) return regions;
    const stray = solutions.flatMap((cells) =>
      range(n * n).filter((cell) => cells[cell] === 1 && !stars.includes(cell)),
    );
    regions = moveBorder(random, near, regions, stray);
  }
  return undefined;
}

/** One star per row, column and region, with one solution. */
export const starPlacementPuzzle: PuzzleGenerator = {
  task: "star_placement_puzzle",
  measure: "cells",

  draw(random, level) {
    const n = atLevel([5, 6, 7, 8], level);
    const { stars, regions } = drawUntil(() => {
      const [placed] = search(starModel(n), { limit: 1, random }).solutions;
      const stars = range(n * n).filter((cell) => placed![cell] === 1);
      const regions = regionsFor(random, n, stars);
      return regions && { stars, regions };
    });
    const region_grid = rowsOf(
      regions.map((region) => LETTERS[region]!),
      n,
    );
    const place = (region: number) => {
      const star = stars.find((cell) => regions[cell] === region)!;
      return [Math.floor(star / n) + 1, (star % n) + 1] as const;
    };
    const named = range(n).map((region) => [LETTERS[region]!, place(region)] as const);
    return {
      question: `Letters divide this ${n} x ${n} grid into regions. Place stars so that every row, every column and every region holds exactly one, and no two stars touch, not even at a corner.\n\n${region_grid.map((row) => row.join(" ")).join("\n")}\n\nAnswer with a dict from region to the list of its stars as (row, column), counted from 1, alone in a python block, such as\n\`\`\`python\n{'A': [(1, 1)], 'B': [(3, 2)]}\n\`\`\``,
      solution: fenced(
        `{${named.map(([letter, [row, column]]) => `'${letter}': [(${row}, ${column})]`).join(", ")}}`,
      ),
      answer: `[[${named.map(([letter, [row, column]]) => `${letter}(${row},${column})`).join("\n\n")}]]`,
      metadata: { n, k: 1, region_nums: n, region_grid, solution: null },
      effort: n * n,
    };
  },
};
