import { expect, test } from "vitest";
import {
  type GrouperParts,
  type SettledGroup,
  settleGroups,
  shapingOptions,
} from "../../../lib/orchestration/pipeline/grouper.ts";
import type { Rollout, Verdict } from "../../../lib/records.ts";
import { requestOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";

const SHAPING = shapingOptions(smallRecipe());

async function settleOne(
  verdicts: readonly Verdict[],
  finishes: readonly Rollout["finish"][],
  parts: Partial<GrouperParts> = {},
): Promise<{ settled: SettledGroup; told: number[] }> {
  const request = requestOf(0, 3, { attempts: verdicts.length });
  const told: number[] = [];
  const rollouts = finishes.map(
    (finish, attempt) =>
      ({ attempt, finish, tokens: new Int32Array(3 + attempt), problem: request.problem }) as Rollout,
  );
  const judged = (async function* () {
    yield { request, rollouts, verdicts };
  })();
  const onCompletion = (_: unknown, completed: number, failed: number) => told.push(completed, failed);
  const stage = settleGroups(judged, { shaping: SHAPING, onCompletion, ...parts });
  return { settled: (await stage.next()).value!, told };
}

const right: Verdict = { status: "correct", score: 1, reason: "" };
const wrong: Verdict = { status: "wrong", score: 0, reason: "" };
const lost: Verdict = { status: "unscored", cause: "worker died" };

test("rewards and advantages for what was judged; a fault of ours is left out by attempt", async () => {
  const { settled, told } = await settleOne([right, wrong, lost, right], ["eos", "eos", "eos", "eos"]);
  expect(told).toEqual([4, 0]);
  expect(settled.unscored).toEqual([2]);
  expect(settled.group.solveRate).toBeCloseTo(2 / 3, 12);
  expect(settled.group.rollouts.map((r) => r.rollout.attempt)).toEqual([0, 1, 3]);
  expect(settled.group.rollouts.reduce((sum, r) => sum + r.advantage, 0)).toBeCloseTo(0, 12);
  expect(settled.group.submittedVersion).toBe(3);
});

test("what the engine aborted is neither completed nor in the group", async () => {
  const { settled, told } = await settleOne([right, wrong, wrong], ["eos", "abort", "eos"]);
  expect(told).toEqual([2, 1]);
  expect(settled.group.rollouts.map((r) => r.rollout.attempt)).toEqual([0, 2]);
});

test("a hook may drop a group that would be trained, and is not asked about others", async () => {
  const asked: unknown[] = [];
  const onGroup = (group: unknown) => {
    asked.push(group);
    return "drop" as const;
  };
  expect((await settleOne([right, wrong], ["eos", "eos"], { onGroup })).settled.group.dropped).toBe("hook");
  expect((await settleOne([lost, lost], ["eos", "eos"], { onGroup })).settled.group.dropped).toBe("unscored");
  expect(asked).toHaveLength(1);
});

test("a hook may give other rewards: advantages follow, scores stay, and the rewards are kept for the log", async () => {
  const give = (rewards: readonly number[]) =>
    settleOne([right, wrong, lost, right], ["eos", "eos", "eos", "eos"], { onGroup: () => ({ rewards }) });
  const { settled } = await give([0.5, 0.25, 0]);
  expect(settled.rewards).toEqual([0.5, 0.25, 0]);
  expect(settled.group.rollouts.map(({ reward }) => reward)).toEqual([0.5, 0.25, 0]);
  expect(settled.group.rollouts.map(({ verdict }) => verdict.score)).toEqual([1, 0, 1]);
  const [first, second, third] = settled.group.rollouts.map(({ advantage }) => advantage);
  expect([first! > 0, Math.abs(second!) < 1e-9, third! < 0]).toEqual([true, true, true]);
  for (const bad of [[1], [1, 2, Number.NaN]])
    await expect(give(bad)).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("the recipe's switches reach the shaping", () => {
  const recipe = smallRecipe(
    {},
    { advantages: { baseline: "leave-one-out", divideBy: "sample-std", filter: "none" } },
  );
  expect(shapingOptions(recipe)).toMatchObject({
    lengthPenalty: { kind: "dap", maxOutputTokens: 24, bufferTokens: 20 },
    advantage: { baseline: "leave-one-out", divideBy: "sample-std" },
    filter: "none",
  });
});
