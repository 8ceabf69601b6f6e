import { expect, test } from "vitest";
import { submittedGroup } from "../../lib/simulate/attempt.ts";
import { LagTally } from "../../lib/simulate/lag-tally.ts";
import { requestOf } from "../orchestration/pipeline-accounting.ts";

/** Attempts of 10 tokens: the first half has the given version, the second half the next one. */
const groupOf = (submittedVersion: number, ...firsts: readonly number[]) => {
  const lengths = firsts.map(() => 10);
  const outcome = { promptTokens: 1, lengths, verify: lengths, kept: true };
  const group = submittedGroup({ ...requestOf(0, submittedVersion), attempts: firsts.length }, outcome);
  group.attempts.forEach((attempt, i) => {
    attempt.firstVersion = firsts[i]!;
    attempt.versions = 5 * firsts[i]! + 5 * (firsts[i]! + 1);
  });
  return group;
};

test("lag is counted from the first token, age from every token, and the bound from submission", () => {
  const tally = new LagTally();
  tally.step([groupOf(1, 2, 4)], 5);
  expect(tally.ofStep).toEqual({ mean: 2, max: 3 });
  tally.step([groupOf(4, 5, 5)], 5);
  expect(tally.ofStep).toEqual({ mean: 0, max: 0 });
  expect(tally.ofRun).toEqual({ mean: 1, token: 0.5, p95: 3, max: 3, submitted: 4 });
});

test("what is trained again is as old as it is by then, and not bound by when it was submitted", () => {
  const tally = new LagTally();
  const first = groupOf(4, 5, 5);
  tally.step([first], 5);
  tally.step([groupOf(7, 7, 7)], 7, [first]);
  expect(tally.ofStep).toEqual({ mean: 1, max: 2 });
  expect(tally.ofRun).toMatchObject({ mean: 4 / 6, token: 1 / 6, max: 2, submitted: 1 });
});

test("a run that trained nothing has no lag", () => {
  expect(new LagTally().ofRun).toEqual({ mean: 0, token: 0, p95: 0, max: 0, submitted: 0 });
});
