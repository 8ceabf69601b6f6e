import { expect, test } from "vitest";
import { correct, fraction, noAnswer, unparsable, wrong } from "../../lib/domains/verifier.ts";

test("only a correct verdict scores 1, and the three kinds of failure score 0", () => {
  expect(correct("a")).toEqual({ status: "correct", score: 1, reason: "a" });
  expect([wrong("a"), noAnswer("a"), unparsable("a")]).toEqual(
    (["wrong", "no_answer", "unparsable"] as const).map((status) => ({ status, score: 0, reason: "a" })),
  );
});

test.each([
  [0, "wrong", 0],
  [0.25, "partial", 0.25],
  [1, "correct", 1],
  [1 + 1e-12, "correct", 1],
] as const)("the fraction %d is %s", (score, status, expected) => {
  expect(fraction(score, "r")).toEqual({ status, score: expected, reason: "r" });
});
