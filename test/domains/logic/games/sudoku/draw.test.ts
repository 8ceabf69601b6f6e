import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { fenced, range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import { sudoku, sudokuModel } from "../../../../../lib/domains/logic/games/sudoku/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, testGridMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly original_sudoku: (number | string)[][];
  readonly complete_sudoku: number[][];
}

const write = (rows: readonly (readonly unknown[])[]) =>
  fenced(`(${rows.map((row) => `(${row.join(",")})`).join(",")})`);

testGridMutations(sudoku, (puzzle) => metadataOf<Metadata>(puzzle).complete_sudoku, write);

// Two rows of a band with blanks in the same two columns often have two fillings.
test("the solver finds as many fillings of four blanks as trying what is missing in the rows", () => {
  const counts = draws(sudoku, 0, 12).map((puzzle, i) => {
    const { complete_sudoku } = metadataOf<Metadata>(puzzle);
    const random = new CounterRandom(5, i);
    const [a, b] = random.sample([0, 1, 2], 2) as [number, number];
    const same = complete_sudoku[a]!.indexOf(complete_sudoku[b]![0]!);
    const blanks = [9 * a, 9 * b, 9 * a + same, 9 * b + same];
    const given = complete_sudoku.flat().map((digit, cell) => (blanks.includes(cell) ? 0 : digit));
    const isAccepted = accepts("sudoku", { metadata: { original_sudoku: rowsOf(given, 9) } });
    const filled = (digits: readonly number[]) =>
      write(
        rowsOf(
          given.map((d, cell) => d || digits[blanks.indexOf(cell)]!),
          9,
        ),
      );
    const row = (cell: number) => given.slice(cell - (cell % 9), cell - (cell % 9) + 9);
    const missing = (cell: number) => range(10).filter((digit) => digit > 0 && !row(cell).includes(digit));
    const byHand = countAccepted(blanks.map(missing), isAccepted, filled);
    expect(search(sudokuModel(given), { limit: 1000 }).solutions.length).toBe(byHand);
    return byHand;
  });
  expect(Math.max(...counts)).toBeGreaterThan(1);
}, 30_000);

test.each([
  // 17 givens, from Gordon Royle's list of minimum sudokus
  ["000000010400000000020000000000050407008000300001090000300400200050100000000806000", 1],
  ["000000010400000000020000000000050407008000300001090000300400200050100000000800000", 2],
])("%s has one solution or more: %i", (digits, count) => {
  const { solutions, complete } = search(sudokuModel([...digits].map(Number)));
  expect([solutions.length, complete]).toEqual([count, true]);
});

test("what is shown is the solution with blanks", () => {
  for (const puzzle of draws(sudoku, 3, 10)) {
    const { original_sudoku, complete_sudoku } = metadataOf<Metadata>(puzzle);
    const shown = [...puzzle.question.matchAll(/^[1-9X]{9}$/gm)].map(([row]) =>
      [...row!].map((c) => (c === "X" ? c : Number(c))),
    );
    expect(shown).toEqual(original_sudoku);
    const given = original_sudoku.flat().map((cell) => (cell === "X" ? 0 : Number(cell)));
    expect(search(sudokuModel(given)).solutions).toEqual([complete_sudoku.flat()]);
    expect(puzzle.effort).toBe(given.filter((digit) => digit === 0).length);
  }
});
