import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { fenced, linesOf, range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import { survo, survoModel } from "../../../../../lib/domains/logic/games/survo/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, testGridMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly original_matrix: number[][];
  readonly filled_matrix: number[][];
  readonly candidate_numbers: number[];
  readonly n: number;
}

const write = (rows: unknown) => fenced(JSON.stringify(rows));

testGridMutations(survo, (puzzle) => metadataOf<Metadata>(puzzle).filled_matrix, write);

/** The matrix with its sums, as the question shows it. */
function bordered(cells: readonly number[], sums: { rows: number[]; columns: number[] }): number[][] {
  const rows = rowsOf(cells, sums.columns.length).map((row, i) => [...row, sums.rows[i]!]);
  return [...rows, [...sums.columns, sums.columns.reduce((a, b) => a + b, 0)]];
}

test("the solver finds as many fillings of four to six blanks as trying all", () => {
  const counts = range(30).map((seed) => {
    const random = new CounterRandom(seed, 10);
    const inner = range(9).map(() => random.int(1, 3));
    const total = (line: readonly number[]) => line.reduce((sum, cell) => sum + inner[cell]!, 0);
    const sums = { rows: linesOf(3, 3).rows.map(total), columns: linesOf(3, 3).columns.map(total) };
    const taken = random.sample(range(9), random.int(4, 6));
    const cells = inner.map((value, cell) => (taken.includes(cell) ? 0 : value));
    const candidate_numbers = random.shuffle(taken.map((cell) => inner[cell]!));
    const isAccepted = accepts("survo", {
      metadata: { original_matrix: bordered(cells, sums), candidate_numbers, n: 4 },
    });
    const text = (values: readonly number[]) =>
      write(
        bordered(
          cells.map((v, cell) => v || values[taken.indexOf(cell)]!),
          sums,
        ),
      );
    const byHand = countAccepted(
      taken.map(() => [1, 2, 3]),
      isAccepted,
      text,
    );
    expect([
      seed,
      search(survoModel(cells, sums, candidate_numbers), { limit: 100 }).solutions.length,
    ]).toEqual([seed, byHand]);
    return byHand;
  });
  expect(new Set(counts).size).toBeGreaterThan(1);
}, 30_000);

test("the stated matrix is the only one", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(survo, level, 40)) {
      const { original_matrix, filled_matrix, candidate_numbers, n } = metadataOf<Metadata>(puzzle);
      const inner = (matrix: number[][]) => matrix.slice(0, -1).flatMap((row) => row.slice(0, -1));
      const sums = {
        rows: filled_matrix.slice(0, -1).map((row) => row.at(-1)!),
        columns: filled_matrix.at(-1)!.slice(0, -1),
      };
      const { solutions } = search(survoModel(inner(original_matrix), sums, candidate_numbers));
      const values = [...new Set(candidate_numbers)].sort((a, b) => a - b);
      const blanks = inner(filled_matrix).filter((_, cell) => inner(original_matrix)[cell] === 0);
      expect(solutions.map((indices) => indices.map((index) => values[index]))).toEqual([blanks]);
      expect([filled_matrix.length, puzzle.effort]).toEqual([n, blanks.length]);
      expect(puzzle.question).toContain(
        original_matrix.map((row) => `[${row.map((v) => v || "X").join(", ")}]`).join("\n"),
      );
    }
  }
});
