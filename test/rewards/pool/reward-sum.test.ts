// Deliberate faults (mutants) that these tests detect: weights are not normalised, the sum ignores an unscored part,
// a rounded sum counts as solved, parts have no names, the problem's verifier gets the wrapped reference.
import { expect, test } from "vitest";
import type { Problem, Verdict } from "../../../lib/records.ts";
import type { VerificationRequest } from "../../../lib/rewards/index.ts";
import { ownVerifier, RewardSum } from "../../../lib/rewards/pool/reward-sum.ts";

const problem: Problem = {
  id: 1,
  domain: "math",
  family: "f",
  level: 0,
  question: "",
  verifier: "reward:math",
  reference: { prompt: "2+2?", verifier: "math", reference: { answer: "4" } },
};
const request: VerificationRequest = { problem, text: "4", finish: "eos" };
const scored = (score: number): Verdict => ({
  status: score === 1 ? "correct" : score > 0 ? "partial" : "wrong",
  score,
  reason: "because",
});
const giving = (name: string, weight: number, ...verdicts: Verdict[]) => ({
  name,
  weight,
  judge: async () => verdicts,
});

test("the score is the weighted mean, on any scale, and each part is told", async () => {
  const sum = new RewardSum([
    giving("right", 3, scored(1), scored(1), scored(0)),
    giving("short", 1, scored(0.5), scored(1), scored(0)),
  ]);
  expect(await sum.judge([request, request, request])).toEqual([
    {
      status: "partial",
      score: 0.875,
      reason: "right 1 (because), short 0.5 (because)",
      parts: { right: 1, short: 0.5 },
    },
    { status: "correct", score: 1, reason: expect.any(String), parts: { right: 1, short: 1 } },
    { status: "wrong", score: 0, reason: expect.any(String), parts: { right: 0, short: 0 } },
  ]);
});

test("one part without a verdict leaves the whole without", async () => {
  const sum = new RewardSum([
    giving("right", 1, scored(1)),
    giving("kind", 1, { status: "unscored", cause: "down" }),
  ]);
  expect(await sum.judge([request])).toEqual([{ status: "unscored", cause: "reward kind: down" }]);
});

test("a part that does not apply adds 0, as TRL's sum has it; where none applies there is no verdict", async () => {
  const none: Verdict = { status: "unscored", cause: "None", notApplicable: true };
  const sum = new RewardSum([
    giving("a", 3, scored(1), none, none, scored(0.5), none),
    giving("b", 1, none, scored(0.5), none, scored(1), { status: "unscored", cause: "down" }),
  ]);
  expect(await sum.judge([request, request, request, request, request])).toEqual([
    { status: "correct", score: 0.75, reason: "a 1 (because)", parts: { a: 1 } },
    { status: "partial", score: 0.125, reason: "b 0.5 (because)", parts: { b: 0.5 } },
    { status: "unscored", cause: "reward b: None", notApplicable: true },
    { status: "partial", score: 0.625, reason: expect.any(String), parts: { a: 0.5, b: 1 } },
    { status: "unscored", cause: "reward b: down" },
  ]);
});

test("rounding neither solves a problem nor leaves one unsolved", async () => {
  const weights = [0.1, 0.2, 0.7];
  const whole = new RewardSum(weights.map((weight, i) => giving(`p${i}`, weight, scored(1))));
  expect(await whole.judge([request])).toMatchObject([{ status: "correct", score: 1 }]);
  const almost = new RewardSum([giving("a", 1e20, scored(1)), giving("b", 1e-3, scored(0))]);
  const [verdict] = await almost.judge([request]);
  expect(verdict).toMatchObject({ status: "partial" });
  expect((verdict as { score: number }).score).toBeLessThan(1);
});

test("the problem's verifier is asked about the problem as it was", async () => {
  let asked: readonly VerificationRequest[] = [];
  const own = ownVerifier(async (requests) => {
    asked = requests;
    return [scored(1)];
  });
  await own.judge([request]);
  const before = { ...problem, question: "2+2?", verifier: "math", reference: { answer: "4" } };
  expect(asked).toEqual([{ problem: before, text: "4", finish: "eos" }]);
});
