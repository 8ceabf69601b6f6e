import { expect, test } from "vitest";
import { conditioned } from "../../lib/sweeps/conditioned.ts";
import { answersTo, syntheticCell } from "./synthetic-cells.ts";

const before = [
  answersTo("hard", [0, 0, 0, 0], [1, 1, 1, 1]),
  answersTo("quarter", [1, 0, 0, 0], [1, 1, 1, 1]),
  answersTo("two of five", [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]),
  answersTo("half", [1, 1, 0, 0], [1, 1, 1, 1]),
  answersTo("easy", [1, 1, 1, 0], [1, 1, 1, 1]),
  answersTo("sure", [1, 1, 1, 1], [1, 1, 1, 1]),
];
const cell = (name: string, bySeed: Record<number, ReturnType<typeof answersTo>[]>) =>
  syntheticCell(
    name,
    Object.entries(bySeed).map(([seed, after]) => ({
      seed: Number(seed),
      after: { math: [0, 0] },
      answers: { before, after },
    })),
  );

test("bins hold what the first weights solved so often; lengths are of right and of wrong answers apart", () => {
  const a = cell("a", {
    0: [
      answersTo("easy", [1, 0], [10, 30]),
      answersTo("sure", [1, 1], [20, 30]),
      { ...answersTo("easy", [0, 0], [500, 500]), set: "a validation set" },
    ],
    1: [answersTo("easy", [0, 0], [40, 60]), answersTo("sure", [1, 1], [8, 12])],
  });
  const b = cell("b", {
    0: [answersTo("easy", [1, 1], [16, 24]), answersTo("sure", [1, 0], [20, 90])],
    1: [answersTo("easy", [1, 0], [14, 70]), answersTo("sure", [1, 1], [8, 8])],
    2: [answersTo("easy", [1, 1], [999, 999])],
  });
  const bins = conditioned(a, b);
  expect(bins.map(({ bin, problems }) => [bin, problems])).toEqual([
    ["[0, 25)", 2],
    ["[25, 50)", 4],
    ["[50, 75)", 2],
    ["[75, 100]", 4],
  ]);
  const { accuracy, correct, incorrect } = bins[3]!;
  // seed 0: 3 of 4 against 3 of 4; seed 1: 2 of 4 against 3 of 4; seed 2 has no partner
  expect([accuracy.a!.mean, accuracy.b!.mean, accuracy.difference!.mean]).toEqual([0.625, 0.75, 0.125]);
  // right: (10 + 20 + 30) / 3 and 10, against (16 + 24 + 20) / 3 and (14 + 8 + 8) / 3
  expect([correct.a!.mean, correct.b!.mean, correct.difference]).toMatchObject([
    15,
    15,
    { n: 2, mean: 0, deviation: 0 },
  ]);
  // wrong: 30 and 50, against 90 and 70
  expect([incorrect.a!.mean, incorrect.b!.mean, incorrect.difference!.mean]).toEqual([40, 80, 40]);
  expect(bins[0]!.accuracy).toEqual({ a: undefined, b: undefined, difference: undefined });
});
