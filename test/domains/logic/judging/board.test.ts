import { expect, test } from "vitest";
import { z } from "zod";
import {
  AROUND,
  boardSchema,
  columnsOf,
  hasShape,
  isLatinSquare,
  isPermutation,
  ORTHOGONAL,
  sameShape,
  touch,
  where,
} from "../../../../lib/domains/logic/judging/board.ts";

test.each([
  [[[1, 2]], true],
  [[[1], [2]], true],
  [[[1], [2, 3]], false],
  [[[]], false],
  [[], false],
  [[["1"]], false],
  [[Array(65).fill(1)], false],
])("%j is a board of integers: %s", (board, isBoard) => {
  expect(boardSchema(z.int()).safeParse(board).success).toBe(isBoard);
});

test("shapes count rows and columns", () => {
  expect([hasShape([[1, 2]], 1, 2), hasShape([[1, 2]], 2, 1), hasShape([[1], [1, 2]], 2, 1)]).toEqual([
    true,
    false,
    false,
  ]);
  expect([sameShape([[1], [1, 2]], [[0], [0, 0]]), sameShape([[1]], [[1], [1]])]).toEqual([true, false]);
  expect(
    columnsOf([
      [1, 2, 3],
      [4, 5, 6],
    ]),
  ).toEqual([
    [1, 4],
    [2, 5],
    [3, 6],
  ]);
});

test.each([
  [[2, 1, 3], true],
  [[1], true],
  [[1, 1, 3], false],
  [[0, 1, 2], false],
  [["1", "2"], false],
  [[1, 2, 4], false],
])("%j is a permutation of 1..n: %s", (values, holds) => {
  expect(isPermutation(values)).toBe(holds);
});

test("a latin square has permutations both ways", () => {
  expect(
    isLatinSquare([
      [1, 2],
      [2, 1],
    ]),
  ).toBe(true);
  expect(
    isLatinSquare([
      [1, 2],
      [1, 2],
    ]),
  ).toBe(false);
  expect(
    isLatinSquare([
      [1, 1],
      [2, 2],
    ]),
  ).toBe(false);
});

test("where lists places in reading order; touch looks along the steps and not beyond the edge", () => {
  const board = ["#..", "..#", ".#."].map((row) => [...row]);
  const isMark = (cell: string) => cell === "#";
  expect(where(board, isMark)).toEqual([
    [0, 0],
    [1, 2],
    [2, 1],
  ]);
  expect(touch(board, isMark, ORTHOGONAL)).toBe(false);
  expect(touch(board, isMark, AROUND)).toBe(true);
  expect(touch([["#"]], isMark, AROUND)).toBe(false);
});
