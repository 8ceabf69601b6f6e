import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { fenced, range } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import {
  skyscraperModel,
  skyscraperPuzzle,
  type Views,
  viewsOf,
  visible,
} from "../../../../../lib/domains/logic/games/skyscraper-puzzle/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, ROWS_OF_3, testGridMutations } from "../../drawing/mutations.ts";

type Metadata = Views & { readonly n: number; readonly solved_grid: number[][] };

const write = (rows: unknown) => fenced(JSON.stringify(rows));

testGridMutations(skyscraperPuzzle, (puzzle) => metadataOf<Metadata>(puzzle).solved_grid, write);

test.each([
  [[1, 2, 3, 4], 4],
  [[4, 3, 2, 1], 1],
  [[2, 1, 4, 3], 2],
  [[1, 3, 2, 4], 3],
])("%j shows %i buildings", (heights, count) => {
  expect(visible(heights)).toBe(count);
});

test("the solver finds as many squares of order 3 as trying all", () => {
  const squares = [
    [1, 2, 3, 2, 3, 1, 3, 1, 2],
    [1, 2, 3, 3, 1, 2, 2, 3, 1],
    [2, 1, 3, 1, 3, 2, 3, 2, 1],
  ];
  const counts = squares.flatMap((square, i) => {
    const views = viewsOf(3, square);
    const random = new CounterRandom(i, 4);
    return [views, { ...views, top: random.shuffle(views.top) }].map((seen) => {
      const isAccepted = accepts("skyscraper_puzzle", { metadata: { n: 3, ...seen } });
      const byHand = countAccepted(
        range(3).map(() => ROWS_OF_3),
        isAccepted,
        write,
      );
      expect(search(skyscraperModel(3, seen), { limit: 100 }).solutions.length).toBe(byHand);
      return byHand;
    });
  });
  expect([Math.min(...counts), Math.max(...counts)]).toEqual([0, 1]);
}, 60_000);

test("the stated square is the only one and looks as shown", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(skyscraperPuzzle, level, 10)) {
      const { n, solved_grid, ...views } = metadataOf<Metadata>(puzzle);
      const { solutions, nodes } = search(skyscraperModel(n, views), { limit: 2 });
      expect([solutions, level === 3]).toEqual([[solved_grid.flat()], nodes > 0]);
      const { top, bottom, left, right } = views;
      const lines = left.map((seen, row) => `${seen} |${" X".repeat(n)} | ${right[row]}`);
      expect(puzzle.question).toContain(
        [`    ${top.join(" ")}`, ...lines, `    ${bottom.join(" ")}`].join("\n"),
      );
    }
  }
});
