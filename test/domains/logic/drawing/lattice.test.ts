import { expect, test } from "vitest";
import {
  around,
  connected,
  fenced,
  linesOf,
  orthogonal,
  range,
  rowsOf,
  shown,
} from "../../../../lib/domains/logic/drawing/lattice.ts";

test("cells are numbered in reading order", () => {
  expect(range(3)).toEqual([0, 1, 2]);
  expect(rowsOf(["a", "b", "c", "d", "e", "f"], 3)).toEqual([
    ["a", "b", "c"],
    ["d", "e", "f"],
  ]);
  expect(linesOf(2, 3)).toEqual({
    rows: [
      [0, 1, 2],
      [3, 4, 5],
    ],
    columns: [
      [0, 3],
      [1, 4],
      [2, 5],
    ],
  });
});

test("neighbours end at the edge and do not wrap", () => {
  const sorted = (lists: readonly (readonly number[])[]) =>
    lists.map((list) => list.toSorted((a, b) => a - b));
  expect(sorted(orthogonal(2, 3))).toEqual([
    [1, 3],
    [0, 2, 4],
    [1, 5],
    [0, 4],
    [1, 3, 5],
    [2, 4],
  ]);
  expect(sorted(around(2, 3))).toEqual([
    [1, 3, 4],
    [0, 2, 3, 4, 5],
    [1, 4, 5],
    [0, 1, 4],
    [0, 1, 2, 3, 5],
    [1, 2, 4],
  ]);
  expect(around(3, 3)[4]!.length).toBe(8);
});

test("connected reaches what hangs together", () => {
  const near = orthogonal(2, 3);
  expect(connected(0, near, (cell) => cell !== 1 && cell !== 4).sort()).toEqual([0, 3]);
  expect(connected(0, near, () => true).length).toBe(6);
});

test("boards are shown row by row, answers in a python block", () => {
  expect(
    shown([
      [1, "X"],
      ["X", 2],
    ]),
  ).toBe("1 X\nX 2");
  expect(fenced("[1]")).toBe("```python\n[1]\n```");
});
