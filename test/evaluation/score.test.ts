import { expect, test } from "vitest";
import { score, scoreboard } from "../../lib/evaluation/index.ts";
import { resultOf } from "./results.ts";

const RESULTS = [
  resultOf(0, "math", [1, 1], [10, 20]),
  resultOf(1, "math", [0, 1], [30, 80]),
  resultOf(2, "code", [0.5, 0.5], [40, 40]),
  resultOf(3, "code", [0, 0], [80, 80]),
];

test("means over completions; errors over problems; the mean over domains is unweighted", () => {
  const board = scoreboard(RESULTS, { temperature: 1, topP: 1, version: 7 });
  expect(board.domains["math"]).toEqual({
    score: 0.75,
    solveRate: 0.75,
    meanTokens: 35,
    truncation: 0.25,
    n: 4,
    // per-problem means 1 and 1/2: their sample deviation sqrt(1/8), divided by sqrt(2)
    standardError: 0.25,
    tokensStandardError: 20,
  });
  expect(board.domains["code"]).toMatchObject({ score: 0.25, solveRate: 0, truncation: 0.5 });
  expect(board.mean).toMatchObject({ score: 0.5, solveRate: 0.375, n: 8 });
  expect(board.mean.standardError).toBeCloseTo(Math.hypot(0.25, 0.25) / 2, 12);
  expect(board.levels["0"]).toMatchObject({ n: 4, score: 0.75 });
});

test("one problem has a score and no error", () => {
  const { score: value, standardError, tokensStandardError } = score([resultOf(0, "math", [1, 0], [10, 20])]);
  expect([value, standardError, tokensStandardError]).toEqual([0.5, 0, 0]);
});
