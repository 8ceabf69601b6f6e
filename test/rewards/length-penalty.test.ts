import { describe, expect, test } from "vitest";
import {
  type LengthPenaltyOptions,
  lengthPenalty,
  overlongPenalty,
} from "../../lib/rewards/length-penalty.ts";
import { golden, near } from "../fixtures/goldens.ts";

// Deliberate faults (mutants) that these tests detect: `tokens < maxOutputTokens`, no guard for truncated
// completions, the guard for finished ones too, gamma applied to 1 - s, incorrectScale for correct ones. Each fails a
// golden or a table below.

interface PenaltyCase {
  readonly id: number;
  readonly L: number;
  readonly B: number;
  readonly gamma: number;
  readonly lambda_f: number;
  readonly group: readonly { R: number; correct: boolean; length: number; finished: boolean }[];
  readonly solve_rate: number;
  readonly out: readonly { P: number; lam: number; r: number }[];
}
const cases = golden<PenaltyCase[]>("length-penalty/cases.jsonl");

describe.skipIf(!cases)("length penalty goldens", () => {
  test("all 86 groups agree in P, lambda and reward", () => {
    expect(cases!.length).toBe(86);
    for (const { id, L, B, gamma, lambda_f, group, solve_rate, out } of cases!) {
      const options: LengthPenaltyOptions = {
        kind: "dap",
        maxOutputTokens: L,
        bufferTokens: B,
        solveRateExponent: gamma,
        incorrectScale: lambda_f,
      };
      for (const [i, { R, correct, length, finished }] of group.entries()) {
        const { penalty, penaltyScale } = lengthPenalty(
          { tokens: length, correct, finished },
          solve_rate,
          options,
        );
        const expected = out[i]!;
        const agrees =
          near(penalty, expected.P, 1e-12) &&
          near(penaltyScale, expected.lam, 1e-12) &&
          near(R + penaltyScale * penalty, expected.r, 1e-12);
        expect([id, i, agrees, penalty, penaltyScale]).toEqual([id, i, true, penalty, penaltyScale]);
      }
    }
  });
});

const paper: LengthPenaltyOptions = { kind: "dap", maxOutputTokens: 16000, bufferTokens: 2000 };

test.each([
  [0, 0],
  [14000, 0],
  [14001, -0.0005],
  [15000, -0.5],
  [15999, -0.9995],
  [16000, -1],
  [16001, 0],
])("the overlong penalty of %i of 16000 tokens, 2000 of buffer, is %d", (tokens, expected) => {
  expect(overlongPenalty(tokens, 16000, 2000)).toBeCloseTo(expected, 12);
});

const rewardOf = (
  tokens: number,
  correct: boolean,
  finished: boolean,
  solveRate: number,
  options: LengthPenaltyOptions = paper,
) => {
  const { penalty, penaltyScale } = lengthPenalty({ tokens, correct, finished }, solveRate, options);
  return Number(correct) + penaltyScale * penalty;
};

test("the worked group: the solver of a hard problem keeps most of its reward, the others pay in full", () => {
  const group = [
    [15000, true, true],
    [9000, true, true],
    [8000, false, true],
    [15500, false, true],
    [16000, false, false],
  ] as const;
  expect(group.map(([tokens, correct, finished]) => rewardOf(tokens, correct, finished, 0.25))).toEqual([
    0.875, 1, 0, -0.75, -1,
  ]);
});

test.each([
  ["lp", [0.5, -0.5, -1]],
  ["none", [1, 0, 0]],
] as const)("kind %s does not look at the solve rate", (kind, expected) => {
  const options: LengthPenaltyOptions = kind === "none" ? { kind } : { ...paper, kind };
  for (const solveRate of [0, 0.5, 1]) {
    const got = [
      rewardOf(15000, true, true, solveRate, options),
      rewardOf(15000, false, true, solveRate, options),
      rewardOf(16000, false, false, solveRate, options),
    ];
    expect(got).toEqual(expected);
  }
});

test("a completion cut off at the budget pays in full even where it is correct", () => {
  expect(rewardOf(16000, true, false, 0.25)).toBe(0);
  expect(rewardOf(16000, true, true, 0.25)).toBe(0.75);
});

test("0 to the power 0 counts as 1: with gamma 0 the difficulty plays no part", () => {
  expect(rewardOf(15000, true, true, 0, { ...paper, solveRateExponent: 0 })).toBe(0.5);
});
