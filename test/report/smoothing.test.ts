import { expect, test } from "vitest";
import { movingMean, smoothingWindow } from "../../lib/report/smoothing.ts";

test("a moving mean is centred, shorter at the ends, and jumps over gaps", () => {
  expect(movingMean([1, 2, 6, 4], 3)).toEqual([1.5, 3, 4, 5]);
  expect(movingMean([1, null, 3], 3)).toEqual([1, 2, 3]);
  expect(movingMean([null, null, 3, null], 3)).toEqual([null, 3, 3, 3]);
  expect(movingMean([5], 3)).toEqual([5]);
});

test("a window is odd, and none for a short run", () => {
  expect([1, 11, 12, 60, 180].map(smoothingWindow)).toEqual([1, 1, 3, 3, 9]);
});
