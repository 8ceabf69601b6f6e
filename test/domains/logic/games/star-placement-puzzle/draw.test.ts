import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { fenced, range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import type { Puzzle } from "../../../../../lib/domains/logic/drawing/puzzle.ts";
import {
  starModel,
  starPlacementPuzzle,
} from "../../../../../lib/domains/logic/games/star-placement-puzzle/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, testMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly n: number;
  readonly region_grid: string[][];
}
type Star = [region: string, row: number, column: number];

const starsOf = ({ solution }: Puzzle): Star[] =>
  Array.from(solution.matchAll(/'(\w)': \[\((\d), (\d)\)\]/g), ([, region, row, column]) => [
    region!,
    Number(row),
    Number(column),
  ]);
const write = (stars: readonly Star[]) =>
  fenced(`{${stars.map(([region, r, c]) => `'${region}': [(${r}, ${c})]`).join(", ")}}`);
const changed =
  (change: (star: Star, i: number, all: readonly Star[], n: number) => Star) => (puzzle: Puzzle) => {
    const { n } = metadataOf<Metadata>(puzzle);
    return write(starsOf(puzzle).map((star, i, all) => change(star, i, all, n)));
  };

testMutations(starPlacementPuzzle, {
  "a star missing": (puzzle) => write(starsOf(puzzle).slice(1)),
  "counted from 0": changed(([region, row, column]) => [region, row - 1, column - 1]),
  "a star moved along its row": changed(([region, row, column], i, _, n) => [
    region,
    row,
    i === 0 ? (column % n) + 1 : column,
  ]),
  "rows of two stars exchanged": changed(([region, row, column], i, all) => [
    region,
    i < 2 ? all[1 - i]![1] : row,
    column,
  ]),
  "two stars in one place": changed((star, i, all) => (i === 0 ? [star[0], all[1]![1], all[1]![2]] : star)),
  "no fence": ({ solution }) => solution.replaceAll("```", ""),
});

test("the solver finds as many placements on 4 x 4 as trying all", () => {
  const counts = range(40).map((seed) => {
    const random = new CounterRandom(seed, 5);
    const regions = random.shuffle(range(16).map((cell) => cell % 4));
    const region_grid = rowsOf(
      regions.map((region) => "ABCD"[region]!),
      4,
    );
    const isAccepted = accepts(
      "star_placement_puzzle",
      { metadata: { n: 4, k: 1, region_grid } },
      "reference",
    );
    const text = (columns: readonly number[]) =>
      write(columns.map((column, row) => ["ABCD"[row]!, row + 1, column + 1]));
    const byHand = countAccepted(
      range(4).map(() => range(4)),
      isAccepted,
      text,
    );
    expect(search(starModel(4, regions), { limit: 100 }).solutions.length).toBe(byHand);
    return byHand;
  });
  expect(new Set(counts)).toEqual(new Set([0, 1, 2].filter((count) => counts.includes(count))));
  expect(Math.max(...counts)).toBeGreaterThan(0);
});

test("without regions there are the known numbers of kings' permutations", () => {
  // OEIS A002464: permutations in which no neighbours differ by 1
  expect([4, 5, 6].map((n) => search(starModel(n), { limit: 1000 }).solutions.length)).toEqual([2, 14, 90]);
});

test("the stated stars are the only ones", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(starPlacementPuzzle, level, 20)) {
      const { n, region_grid } = metadataOf<Metadata>(puzzle);
      const regions = region_grid.flat().map((letter) => letter.charCodeAt(0) - 65);
      const { solutions } = search(starModel(n, regions));
      const cells = starsOf(puzzle).map(([, row, column]) => (row - 1) * n + column - 1);
      expect(solutions).toEqual([range(n * n).map((cell) => Number(cells.includes(cell)))]);
      expect(puzzle.question).toContain(region_grid.map((row) => row.join(" ")).join("\n"));
    }
  }
});
