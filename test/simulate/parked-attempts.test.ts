import { expect, test } from "vitest";
import { submittedGroup } from "../../lib/simulate/attempt.ts";
import { ParkedAttempts } from "../../lib/simulate/parked-attempts.ts";
import { requestOf } from "../orchestration/pipeline-accounting.ts";

const attemptOf = (group: number) => {
  const outcome = { promptTokens: 1, lengths: [5], verify: [1], kept: true };
  const attempt = submittedGroup({ ...requestOf(group, 0), attempts: 1 }, outcome).attempts[0]!;
  attempt.done = group + 1;
  return attempt;
};

test("whoever was submitted first goes on first, in whatever order they lost their slots", () => {
  const parked = new ParkedAttempts();
  for (const group of [2, 0, 3, 1]) parked.add(attemptOf(group));
  expect(parked.all.map(({ done }) => done)).toEqual([1, 2, 3, 4]);
  expect(parked.first!.done).toBe(1);
  expect([parked.takeFirst().done, parked.takeFirst().done]).toEqual([1, 2]);
  expect(parked.takeAll().map(({ done }) => done)).toEqual([3, 4]);
  expect([parked.size, parked.first]).toEqual([0, undefined]);
});
