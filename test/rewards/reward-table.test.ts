// Deliberate faults (mutants) that these tests detect: finished and truncated are exchanged; partial credit lacks the
// wrong row's share; the table's partial is ignored; no_answer is used for unparsable.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ScoredVerdict } from "../../lib/records.ts";
import { type RewardTable, tableReward } from "../../lib/rewards/reward-table.ts";

const verdict = (status: ScoredVerdict["status"], score = status === "correct" ? 1 : 0): ScoredVerdict => ({
  status,
  score,
  reason: "",
});
const STATUSES = ["correct", "wrong", "no_answer", "unparsable"] as const;

/** Sixteen numbers of PipelineRL's two files, copied by hand: status, finished, truncated. */
test.each([
  ["pure_success", "correct", 1, 1],
  ["pure_success", "wrong", 0, 0],
  ["pure_success", "no_answer", 0, 0],
  ["pure_success", "unparsable", 0, 0],
  ["success_and_format", "correct", 1, 0],
  ["success_and_format", "wrong", 0, 0],
  ["success_and_format", "no_answer", 0, 0],
  ["success_and_format", "unparsable", 0, 0],
] as const)("%s: %s is worth %d, and %d where it was cut", (table, status, finished, truncated) => {
  expect(tableReward(verdict(status), true, table)).toBe(finished);
  expect(tableReward(verdict(status), false, table)).toBe(truncated);
});

const own: RewardTable = {
  finished: { correct: 2, wrong: -0.5, no_answer: -1, unparsable: -3 },
  truncated: { correct: 0.5, wrong: -2, no_answer: -4, unparsable: -5, partial: 0.125 },
};

describe("a table of one's own", () => {
  test.each(STATUSES)("gives its number for %s", (status) => {
    expect(tableReward(verdict(status), true, own)).toBe(own.finished[status]);
    expect(tableReward(verdict(status), false, own)).toBe(own.truncated[status]);
  });

  test("puts partial credit between wrong and correct, unless it has a number for it", () => {
    expect(tableReward(verdict("partial", 0.25), true, own)).toBe(-0.5 + 0.25 * 2.5);
    expect(tableReward(verdict("partial", 0.25), false, own)).toBe(0.125);
  });

  test("reads the score that the reference gives wrong parallel calls", () => {
    expect(tableReward(verdict("wrong", 0.5), true, own)).toBe(0.75);
    expect(tableReward(verdict("wrong", 0.5), false, own)).toBe(-0.75);
  });
});

test("of every verdict the score itself, and the same bits from pure_success", () => {
  const verdicts = fc.oneof(
    fc.constantFrom(...STATUSES).map((status) => verdict(status)),
    fc
      .tuple(fc.constantFrom("partial", "wrong"), fc.double({ min: 0, max: 0.999, noNaN: true }))
      .map(([status, score]) => verdict(status as "partial", score)),
  );
  fc.assert(
    fc.property(verdicts, fc.boolean(), (v, finished) => {
      expect(tableReward(v, finished, "score")).toBe(v.score);
      expect(tableReward(v, finished, "pure_success")).toBe(v.score);
    }),
  );
});
