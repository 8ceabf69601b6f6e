import { expect, test } from "vitest";
import { oneOf, search } from "../../../../lib/domains/logic/drawing/finite-domain.ts";
import { latinModel, randomSquare } from "../../../../lib/domains/logic/drawing/latin.ts";
import { rowsOf } from "../../../../lib/domains/logic/drawing/lattice.ts";
import { isLatinSquare } from "../../../../lib/domains/logic/judging/board.ts";
import { CounterRandom } from "../../../../lib/random.ts";

// Numbers of latin squares: OEIS A002860.
test.each([
  [1, 1],
  [2, 2],
  [3, 12],
  [4, 576],
])("there are the known number of latin squares of order %i: %i", (n, count) => {
  expect(search(latinModel(n), { limit: 1000 }).solutions.length).toBe(count);
});

test("random squares are latin and differ from stream to stream", () => {
  const squares = Array.from({ length: 50 }, (_, i) => randomSquare(new CounterRandom(i), latinModel(4)));
  for (const square of squares) expect(isLatinSquare(rowsOf(square, 4))).toBe(true);
  expect(new Set(squares.map(String)).size).toBeGreaterThan(40);
});

test("further constraints hold; impossible ones are said to be so", () => {
  expect(
    randomSquare(new CounterRandom(1), latinModel(3, [oneOf([0, 4], [[3, 3]])])).filter(
      (_, i) => i % 4 === 0,
    )[0],
  ).toBe(3);
  expect(() => randomSquare(new CounterRandom(1), latinModel(3, [oneOf([0, 1], [[3, 3]])]))).toThrow(
    "no such square",
  );
});
