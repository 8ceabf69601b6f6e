import { expect, test } from "vitest";
import { submittedGroup } from "../../lib/simulate/attempt.ts";
import { SettledGroups } from "../../lib/simulate/settled.ts";
import { requestOf } from "../orchestration/pipeline-accounting.ts";

test("rollouts are as long as the answers, and the group is kept or dropped as its outcome says", () => {
  const made = new SettledGroups();
  const groupOf = (kept: boolean) =>
    submittedGroup(
      { ...requestOf(0, 0), attempts: 2 },
      { promptTokens: 3, lengths: [7, 70_000], verify: [1, 1], kept },
    );
  const rollouts = made.rollouts(groupOf(true));
  expect(
    rollouts.map(({ attempt, tokens, promptTokens }) => [attempt, tokens.length, promptTokens.length]),
  ).toEqual([
    [0, 7, 3],
    [1, 70_000, 3],
  ]);
  expect(made.settle(groupOf(true), rollouts).group.dropped).toBeUndefined();
  expect(made.settle(groupOf(false), rollouts).group).toMatchObject({
    dropped: "zero-advantage",
    rollouts: [{ rollout: rollouts[0] }, { rollout: rollouts[1] }],
  });
});
