import { expect, test } from "vitest";
import { type Judged, type JudgedProblem, measure } from "../../../lib/suites/statistics/measures.ts";

const judged = (seed: number, correct: boolean, change: Partial<Judged> = {}): Judged => ({
  seed,
  correct,
  score: Number(correct),
  tokens: 10,
  truncated: false,
  missing: false,
  answer: undefined,
  ...change,
});
const problem = (answers: readonly Judged[], subject = "a", level = 0): JudgedProblem => ({
  subject,
  level,
  answers,
});
const COUNTING = { metric: "correct", levels: ["easy", "hard"] } as const;

test("accuracy is the mean over seeds, and its deviation that over seeds", () => {
  const found = measure(
    [
      problem([judged(42, true), judged(43, true), judged(44, true)]),
      problem([judged(42, false), judged(43, true), judged(44, false)]),
    ],
    COUNTING,
  );
  expect(found.seeds).toEqual([
    { seed: 42, accuracy: 0.5 },
    { seed: 43, accuracy: 1 },
    { seed: 44, accuracy: 0.5 },
  ]);
  expect(found.accuracy).toBeCloseTo(2 / 3, 12);
  expect(found.deviation).toBeCloseTo(Math.sqrt(1 / 12), 12); // the deviation of .5, 1, .5
  expect(found.passAt).toEqual({
    1: expect.closeTo(2 / 3, 12),
    2: expect.closeTo((1 + 2 / 3) / 2, 12),
    3: 1,
  });
  expect(found.interval).toEqual({ low: expect.closeTo(1 / 3, 12), high: 1 });
  expect(found.majorityAt).toBeUndefined();
});

test("attempts of a seed are one mean, so that a problem with more of them weighs no more", () => {
  const { accuracy, seeds, deviation } = measure(
    [
      problem([judged(1, true), judged(1, false), judged(1, false), judged(1, false)]),
      problem([judged(1, true)]),
    ],
    COUNTING,
  );
  expect([accuracy, seeds, deviation]).toEqual([0.625, [{ seed: 1, accuracy: 0.625 }], undefined]);
});

test("lengths of right and wrong answers, and what share was cut or without answer", () => {
  const found = measure(
    [
      problem([judged(1, true, { tokens: 10 }), judged(2, true, { tokens: 20 })]),
      problem([
        judged(1, false, { tokens: 90, truncated: true, missing: true }),
        judged(2, false, { tokens: 30 }),
      ]),
    ],
    COUNTING,
  );
  expect(found).toMatchObject({ meanTokens: 37.5, medianTokens: 25, correctTokens: 15, wrongTokens: 60 });
  expect(found).toMatchObject({ truncated: 0.25, missing: 0.25, problems: 2, answers: 4 });
  expect(measure([problem([judged(1, true)])], COUNTING).wrongTokens).toBeUndefined();
});

test("by subject and by the names of levels", () => {
  const { subjects, levels } = measure(
    [
      problem([judged(1, true)], "x", 0),
      problem([judged(1, false)], "x", 1),
      problem([judged(1, false)], "y", 1),
    ],
    COUNTING,
  );
  expect(
    Object.entries(subjects).map(([name, { accuracy, problems }]) => [name, accuracy, problems]),
  ).toEqual([
    ["x", 0.5, 2],
    ["y", 0, 1],
  ]);
  expect(Object.entries(levels).map(([name, { accuracy }]) => [name, accuracy])).toEqual([
    ["easy", 1],
    ["hard", 0],
  ]);
  expect(measure([problem([judged(1, true)])], { metric: "correct", levels: [] }).levels).toEqual({});
});

test("the metric score counts parts, pass@k does not", () => {
  const half = judged(1, false, { score: 0.5 });
  expect(measure([problem([half])], { ...COUNTING, metric: "score" })).toMatchObject({
    accuracy: 0.5,
    passAt: { 1: 0 },
  });
  expect(measure([problem([half])], COUNTING)).toMatchObject({ accuracy: 0, score: 0.5 });
});

test("answers vote", () => {
  const vote = (seed: number, answer: string | undefined, correct = false) =>
    judged(seed, correct, { answer });
  const { majorityAt } = measure(
    [problem([vote(1, "7", true), vote(2, "7", true), vote(3, "8"), vote(4, undefined)])],
    COUNTING,
  );
  expect(majorityAt).toEqual({ 1: expect.closeTo(0.5, 12), 2: expect.any(Number), 4: 1 });
});
