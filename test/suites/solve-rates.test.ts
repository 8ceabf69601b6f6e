import { expect, test } from "vitest";
import { solveRateBins } from "../../lib/suites/solve-rates.ts";
import type { JudgedProblem } from "../../lib/suites/statistics/measures.ts";

/** A problem with answers that are right (1) or wrong (0), each with its number of tokens. */
const problem = (...answers: readonly (readonly [0 | 1, number])[]): JudgedProblem => ({
  subject: "s",
  level: 0,
  answers: answers.map(([correct, tokens], seed) => ({
    seed,
    correct: correct === 1,
    score: correct,
    tokens,
    truncated: false,
    missing: false,
    answer: undefined,
  })),
});

const rated = (rights: number, of: number) =>
  problem(...Array.from({ length: of }, (_, i) => [i < rights ? 1 : 0, 10] as const));

test("bins are closed below, and the last one above", () => {
  const rates = [0, 1, 24, 25, 49, 50, 74, 75, 99, 100];
  const bins = solveRateBins(
    "s",
    rates.map((rate) => ({ a: rated(rate, 100), b: rated(0, 1) })),
  );
  expect(bins.map(({ from, to, problems }) => [from, to, problems])).toEqual([
    [0, 0.25, 3],
    [0.25, 0.5, 2],
    [0.5, 0.75, 2],
    [0.75, 1, 3],
  ]);
});

test("accuracy is a mean over problems, lengths are means over answers of one kind", () => {
  const pairs = [
    { a: problem([0, 10], [0, 30]), b: problem([1, 100], [1, 200], [0, 7]) },
    { a: problem([0, 50]), b: problem([0, 9]) },
  ];
  const [bin] = solveRateBins("s", pairs);
  expect(bin).toEqual({
    suite: "s",
    from: 0,
    to: 0.25,
    problems: 2,
    solved: { before: 0, after: (2 / 3 + 0) / 2 },
    correctTokens: { before: undefined, after: 150 },
    incorrectTokens: { before: 30, after: 8 },
  });
});

test("a bin without problems has no numbers", () => {
  const bins = solveRateBins("s", [{ a: rated(1, 1), b: rated(1, 1) }]);
  expect(bins[1]).toEqual({
    suite: "s",
    from: 0.25,
    to: 0.5,
    problems: 0,
    solved: undefined,
    correctTokens: { before: undefined, after: undefined },
    incorrectTokens: { before: undefined, after: undefined },
  });
});
