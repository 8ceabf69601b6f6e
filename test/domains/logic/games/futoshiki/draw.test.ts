import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { orthogonal, range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import {
  futoshiki,
  futoshikiModel,
  type Inequality,
} from "../../../../../lib/domains/logic/games/futoshiki/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, ROWS_OF_3, testGridMutations } from "../../drawing/mutations.ts";

type Place = [number, number];
interface Metadata {
  readonly grid_size: number;
  readonly prefilled_coords: Place[];
  readonly constraints: [Place, Place, string][];
}

const write = (rows: readonly (readonly unknown[])[]) => `[[${rows.map((row) => row.join(" ")).join(",")}]]`;

testGridMutations(futoshiki, ({ answer }) => answer as number[][], write);

test("the solver finds as many squares of order 3 as trying all", () => {
  const counts = range(6).map((seed) => {
    const random = new CounterRandom(seed, 2);
    const pairs = orthogonal(3, 3).flatMap((near, a) => near.map((b): Inequality => [a, b]));
    const signs = random.sample(pairs, random.int(0, 3));
    const given = range(9).map((cell) => (cell === seed ? random.int(1, 3) : 0));
    const place = (cell: number): Place => [Math.floor(cell / 3), cell % 3];
    const metadata = {
      grid_size: 3,
      prefilled_coords: [place(seed)],
      constraints: signs.map(([a, b]) => [place(a), place(b), "<"]),
    };
    const question = `Current puzzle:\n${rowsOf(given, 3)
      .map((row) => row.map((d) => d || "X").join(" "))
      .join("\n")}`;
    const isAccepted = accepts("futoshiki", { question, metadata });
    const byHand = countAccepted(
      range(3).map(() => ROWS_OF_3),
      isAccepted,
      write,
    );
    expect(search(futoshikiModel(3, given, signs), { limit: 1000 }).solutions.length).toBe(byHand);
    return byHand;
  });
  expect(new Set(counts).size).toBeGreaterThan(2);
}, 30_000);

test("the stated square is the only one; signs and givens are those of the question", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(futoshiki, level, 20)) {
      const { grid_size: n, prefilled_coords, constraints } = metadataOf<Metadata>(puzzle);
      const square = (puzzle.answer as number[][]).flat();
      const index = ([row, column]: Place) => row * n + column;
      const given = square.map((digit, cell) =>
        prefilled_coords.some((place) => index(place) === cell) ? digit : 0,
      );
      const signs = constraints.map(
        ([a, b, sign]): Inequality => (sign === "<" ? [index(a), index(b)] : [index(b), index(a)]),
      );
      expect(search(futoshikiModel(n, given, signs)).solutions).toEqual([square]);
      const shown = puzzle.question.split("Current puzzle:\n")[1]!.split("\n").slice(0, n);
      expect(shown.map((row) => row.split(" "))).toEqual(
        rowsOf(
          given.map((digit) => `${digit || "X"}`),
          n,
        ),
      );
      expect(shown.every((row) => row.includes("X"))).toBe(true);
      const spoken = constraints.map(
        ([[r1, c1], [r2, c2], sign]) => `(${r1 + 1},${c1 + 1}) ${sign} (${r2 + 1},${c2 + 1})`,
      );
      expect(puzzle.question).toContain(`Inequalities:\n${spoken.join("\n")}\n\n`);
    }
  }
});
