import { expect, test } from "vitest";
import { line, rates } from "../../lib/simulate/least-squares.ts";

test("a line through points on it, and through points around it", () => {
  expect(
    line([
      [0, 3],
      [1, 5],
      [2, 7],
    ]),
  ).toEqual({ a: expect.closeTo(3, 12), b: expect.closeTo(2, 12) });
  // by hand: the mean is (1.5, 2.5), the slope 4.5 / 5
  expect(
    line([
      [0, 1],
      [1, 2],
      [2, 4],
      [3, 3],
    ]),
  ).toEqual({ a: expect.closeTo(1.3, 12), b: expect.closeTo(0.8, 12) });
});

test("neither end is below 0", () => {
  expect(
    line([
      [1, 5],
      [2, 3],
    ]),
  ).toEqual({ a: 4, b: 0 });
  expect(
    line([
      [1, 1],
      [2, 4],
    ]),
  ).toEqual({ a: 0, b: expect.closeTo(9 / 5, 12) });
  expect(line([[2, 6]])).toEqual({ a: 6, b: 0 });
});

test("two rates, where the points tell them apart", () => {
  expect(
    rates([
      [1, 0, 2],
      [0, 1, 3],
      [2, 2, 10],
    ]),
  ).toEqual({ p: expect.closeTo(2, 12), q: expect.closeTo(3, 12) });
  expect(
    rates([
      [1, 2, 3],
      [2, 4, 6],
    ]),
  ).toBeUndefined();
  expect(
    rates([
      [1, 0, -2],
      [0, 1, 3],
    ]),
  ).toBeUndefined();
});
