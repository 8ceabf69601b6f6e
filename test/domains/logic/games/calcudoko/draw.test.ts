import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { connected, orthogonal, range } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import {
  calcudoko,
  calcudokoModel,
  type Region,
} from "../../../../../lib/domains/logic/games/calcudoko/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, ROWS_OF_3, testGridMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly grid_size: number;
  readonly regions: {
    readonly cells: string[];
    readonly target: number;
    readonly operator: Region["operator"];
  }[];
}

const write = (rows: readonly (readonly unknown[])[]) => `[[${rows.map((row) => row.join(" ")).join(",")}]]`;
const readRows = (text: string) =>
  text
    .slice(2, -2)
    .split(",")
    .map((row) => row.split(" ").map(Number));

testGridMutations(calcudoko, ({ solution }) => readRows(solution), write);

const named = (n: number) => (cell: number) => `(${Math.floor(cell / n) + 1},${(cell % n) + 1})`;
const indexOf = (n: number) => (cell: string) => {
  const [row, column] = cell.slice(1, -1).split(",").map(Number);
  return (row! - 1) * n + column! - 1;
};

test("the solver finds as many squares of order 3 as trying all", () => {
  const counts = range(8).map((seed) => {
    const random = new CounterRandom(seed, 3);
    const operators = ["+", "-", "*", "÷"] as const;
    const regions = range(2).map((): Region => {
      const operator = random.choice(operators);
      const first = random.choice([0, 1, 3, 4]);
      const cells = operator === "+" ? [first, first + 1, first + 3] : [first, first + 1];
      return {
        cells,
        operator,
        target: random.choice({ "+": [4, 5, 6], "-": [1, 2], "*": [2, 3, 6], "÷": [2, 3, 1.5] }[operator]),
      };
    });
    const metadata = {
      grid_size: 3,
      regions: regions.map((region) => ({ ...region, cells: region.cells.map(named(3)) })),
    };
    const isAccepted = accepts("calcudoko", { metadata });
    const byHand = countAccepted(
      range(3).map(() => ROWS_OF_3),
      isAccepted,
      write,
    );
    expect(search(calcudokoModel(3, regions), { limit: 1000 }).solutions.length).toBe(byHand);
    return byHand;
  });
  expect(new Set(counts).size).toBeGreaterThan(2);
}, 30_000);

test("the stated square is the only one; regions are in one piece and cover the grid", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(calcudoko, level, 20)) {
      const { grid_size: n, regions: spoken } = metadataOf<Metadata>(puzzle);
      const regions = spoken.map((region) => ({ ...region, cells: region.cells.map(indexOf(n)) }));
      expect(search(calcudokoModel(n, regions)).solutions).toEqual([readRows(puzzle.solution).flat()]);
      expect(regions.flatMap(({ cells }) => cells).sort((a, b) => a - b)).toEqual(range(n * n));
      for (const { cells, operator } of regions) {
        const reached = connected(cells[0]!, orthogonal(n, n), (cell) => cells.includes(cell)).length;
        expect([reached, cells.length > 3, cells.length !== 2 && "-÷".includes(operator)]).toEqual([
          cells.length,
          false,
          false,
        ]);
      }
      for (const { cells, target, operator } of spoken)
        expect(puzzle.question).toContain(`(${cells.join(",")}):${target}${operator}\n`);
    }
  }
});
