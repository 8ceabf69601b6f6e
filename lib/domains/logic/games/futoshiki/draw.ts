import { atLevel } from "../../../../data/family.ts";
import { bit, type Model, oneOf } from "../../drawing/finite-domain.ts";
import { latinModel, randomSquare } from "../../drawing/latin.ts";
import { orthogonal, range, rowsOf, shown } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { carve, hasOneSolution } from "../../drawing/uniqueness.ts";

/** The first cell's digit is smaller than the second's. */
export type Inequality = readonly [smaller: number, larger: number];

type Place = readonly [row: number, column: number];
/** A constraint as in a row of the data set: 0-based, in either direction. */
type Constraint = readonly [Place, Place, "<" | ">"];

/** Model of latin squares with some given digits (0: none) and a required "less than" between some pairs of cells. */
export function futoshikiModel(n: number, given: readonly number[], signs: readonly Inequality[]): Model {
  const ascending = range(n).flatMap((a) => range(a).map((b) => [b + 1, a + 1]));
  const model = latinModel(
    n,
    signs.map((pair) => oneOf(pair, ascending)),
  );
  return { ...model, domains: model.domains.map((all, cell) => (given[cell] ? bit(given[cell]) : all)) };
}

/**
 * Latin squares with inequality signs and one solution. Every row has a blank, because some readers of answers count
 * rows by their blanks.
 */
export const futoshiki: PuzzleGenerator = {
  task: "futoshiki",
  measure: "blank cells",

  draw(random, level) {
    const n = atLevel([4, 5, 5, 6], level);
    const square = randomSquare(random, latinModel(n));
    const pairs = orthogonal(n, n).flatMap((near, a) =>
      near.filter((b) => square[a]! < square[b]!).map((b): Inequality => [a, b]),
    );
    const signs = random.sample(pairs, atLevel([4, 6, 10, 14], level));
    const first = range(n).map((row) => row * n + random.int(0, n - 1));
    const order = [...first, ...random.shuffle(range(n * n).filter((cell) => !first.includes(cell)))];
    const without = (cells: readonly number[]) =>
      square.map((digit, cell) => (cells.includes(cell) ? 0 : digit));
    const taken = carve(order, atLevel([10, 16, 20, 28], level), (cells) =>
      hasOneSolution(futoshikiModel(n, without(cells), signs)),
    );

    const place = (cell: number): Place => [Math.floor(cell / n), cell % n];
    const constraints = signs.map(
      ([a, b]): Constraint => (random.next() < 0.5 ? [place(a), place(b), "<"] : [place(b), place(a), ">"]),
    );
    const spoken = constraints.map(
      ([[r1, c1], [r2, c2], sign]) => `(${r1 + 1},${c1 + 1}) ${sign} (${r2 + 1},${c2 + 1})`,
    );
    const prefilled_coords = range(n * n)
      .filter((cell) => !taken.includes(cell))
      .map(place);
    const answer = rowsOf(square, n);
    return {
      question: `Fill a ${n}x${n} grid so that each row and each column holds the numbers 1 to ${n} once and every inequality between cells (row, column) holds. X marks a cell to fill.\n\nCurrent puzzle:\n${shown(
        rowsOf(
          without(taken).map((digit) => digit || "X"),
          n,
        ),
      )}\n\nInequalities:\n${spoken.join("\n")}\n\nGive all rows from top to bottom in double square brackets, numbers separated by spaces and rows by commas, such as [[1 2,2 1]].`,
      solution: `[[${answer.map((row) => row.join(" ")).join(",")}]]`,
      answer,
      metadata: {
        grid_size: n,
        num_inequality_signs: signs.length,
        num_prefilled_coords: prefilled_coords.length,
        prefilled_coords,
        constraints,
      },
      effort: taken.length,
    };
  },
};
