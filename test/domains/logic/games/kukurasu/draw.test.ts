import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { linesOf, range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import { kukurasu, kukurasuModel } from "../../../../../lib/domains/logic/games/kukurasu/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, assignments, countAccepted, testGridMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly row_sums: number[];
  readonly col_sums: number[];
  readonly solution: string[][];
}

testGridMutations(kukurasu, (puzzle) => metadataOf<Metadata>(puzzle).solution, JSON.stringify);

test("the solver finds as many grids of 3 x 3 as trying all", () => {
  const counts = range(40).map((seed) => {
    const random = new CounterRandom(seed, 8);
    const cells = range(9).map(() => random.int(0, 1));
    const weigh = (line: readonly number[]) =>
      line.reduce((sum, cell, place) => sum + cells[cell]! * (place + 1), 0);
    const { rows, columns } = linesOf(3, 3);
    const [row_sums, col_sums] = [rows.map(weigh), columns.map(weigh)];
    if (seed % 4 === 0) col_sums[0] = 3;
    const isAccepted = accepts("kukurasu", { metadata: { row_sums, col_sums, n: 3, m: 3 } });
    const byHand = countAccepted(
      range(9).map(() => ["X", "1"]),
      isAccepted,
      (marks) => JSON.stringify(rowsOf(marks, 3)),
    );
    expect([seed, search(kukurasuModel(row_sums, col_sums), { limit: 100 }).solutions.length]).toEqual([
      seed,
      byHand,
    ]);
    return byHand;
  });
  expect(new Set(counts)).toEqual(new Set([0, 1]));
});

test("3 = 1 + 2 both ways gives twins", () => {
  // each line needs 3 or 1 + 2: the diagonal with two more ones, or its mirror image
  const model = kukurasuModel([3, 3, 3], [3, 3, 3]);
  const valid = [...assignments(range(9).map(() => [0, 1]))].filter((cells) =>
    Object.values(linesOf(3, 3)).every((lines) =>
      lines.every((line) => line.reduce((sum, cell, place) => sum + cells[cell]! * (place + 1), 0) === 3),
    ),
  );
  expect(search(model, { limit: 100 }).solutions.map(String).sort()).toEqual(valid.map(String).sort());
});

test("the stated grid is the only one", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(kukurasu, level, 50)) {
      const { row_sums, col_sums, solution } = metadataOf<Metadata>(puzzle);
      expect(search(kukurasuModel(row_sums, col_sums)).solutions).toEqual([
        solution.flat().map((cell) => Number(cell === "1")),
      ]);
      expect(puzzle.question).toContain(
        `row_sums = [${row_sums.join(", ")}]\ncol_sums = [${col_sums.join(", ")}]`,
      );
    }
  }
});
