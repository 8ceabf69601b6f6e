import { expect, test } from "vitest";
import { difficultyBins, scoreBins } from "../../lib/evaluation/index.ts";
import { resultOf } from "./results.ts";

test("bins are closed below, open above, and hold problems by another policy's solve rate", () => {
  const bins = difficultyBins([
    resultOf(0, "math", [0, 0, 0, 0], [1, 1, 1, 1]),
    resultOf(1, "math", [1, 0, 0, 0], [1, 1, 1, 1]),
    resultOf(2, "math", [1, 1, 1, 0], [1, 1, 1, 1]),
    resultOf(3, "math", [1, 1, 1, 1], [1, 1, 1, 1]),
    resultOf(4, "math", [1, 0, 0, 0, 0], [1, 1, 1, 1, 1]),
    resultOf(5, "math", [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]),
  ]);
  expect(bins.labels).toEqual(["[0,0.25)", "[0.25,0.5)", "[0.5,0.75)", "[0.75,1]"]);
  expect(bins.problems.map((ids) => [...ids])).toEqual([[0, 4], [1, 5], [], [2, 3]]);
  const cells = scoreBins(
    [resultOf(2, "math", [1, 0], [10, 99]), resultOf(3, "math", [1, 1], [20, 30])],
    bins,
  );
  expect(cells[0], "nobody was asked").toEqual({ solveRate: 0, correctTokens: 0 });
  expect(cells[3]).toEqual({ solveRate: 0.75, correctTokens: 20 });
});
