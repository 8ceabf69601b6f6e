import { expect, test } from "vitest";
import {
  expectRecorded,
  type RecordedGroup,
  type RecordedRollout,
  recordedBatch,
  settleRecorded,
} from "../../../lib/orchestration/index.ts";
import { smallRecipe } from "../small-recipe.ts";

const encode = (words: Int32Array | Float32Array) => Buffer.from(words.buffer).toString("base64");

const member = (attempt: number, score: 0 | 1, tokens = 3): RecordedRollout => ({
  attempt,
  finish: "eos",
  tokens: encode(new Int32Array(tokens).fill(attempt + 1)),
  logprobs: encode(new Float32Array(tokens).fill(-0.5)),
  versions: [0, 4, 2, 5],
  oldestKv: [0, 3],
  verdict: { status: score === 1 ? "correct" : "wrong", score, reason: "" },
  reward: score,
  penaltyScale: score === 1 ? 0.5 : 1,
  penalty: 0,
  advantage: score - 0.5,
});

const group = (rest: Partial<RecordedGroup> = {}): RecordedGroup => ({
  group: 9,
  problem: 17,
  domain: "math",
  family: "chain",
  level: 0,
  submittedVersion: 4,
  solveRate: 0.5,
  prompt: encode(Int32Array.of(7, 8)),
  rollouts: [member(0, 1), member(1, 0)],
  ...rest,
});

const recipe = smallRecipe({});

test("rewards, advantages and the batch are those of the run", () => {
  const groups = [group()];
  const settled = settleRecorded(groups, recipe, {});
  expectRecorded(settled, groups);
  const { data, rollouts } = recordedBatch(settled, recipe);
  expect(rollouts.map(({ advantage }) => advantage)).toEqual([0.5, -0.5]);
  expect(Array.from(data.tokens)).toEqual([7, 8, 1, 1, 1, 7, 8, 2, 2, 2]);
  expect(Array.from(data.behaviorLogprobs)).toEqual([0, 0, -0.5, -0.5, -0.5, 0, 0, -0.5, -0.5, -0.5]);
  expect(Array.from(rollouts[0]!.rollout.versions)).toEqual([4, 4, 5]);
  expect(Array.from(rollouts[0]!.rollout.oldestKvVersions)).toEqual([3, 3, 3]);
});

test("what a hook did stays", () => {
  const hooked = settleRecorded([group()], recipe, { rewards: new Map([[9, [3, 5]]]) });
  expect(hooked[0]!.group.rollouts.map(({ reward, advantage }) => [reward, advantage])).toEqual([
    [3, -1],
    [5, 1],
  ]);
  const [out] = settleRecorded([group({ dropped: "hook" })], recipe, {});
  expect(out!.group.dropped).toBe("hook");
});

test("a record that the recipe does not give is refused by name", () => {
  const groups = [group({ rollouts: [member(0, 1), { ...member(1, 0), reward: 0.25 }] })];
  expect(() => expectRecorded(settleRecorded(groups, recipe, {}), groups)).toThrow(
    "group 9 (math): attempt 1 has the reward 0, in the record 0.25",
  );
  const kept = [group({ dropped: "zero-advantage" })];
  expect(() => expectRecorded(settleRecorded(kept, recipe, {}), kept)).toThrow(
    "group 9 (math): zero-advantage in the run, kept here",
  );
});

test("a teacher's log-probs come from the record, and are in the advantages", () => {
  const taught = smallRecipe(
    {},
    { objective: { kind: "dapo" }, teacher: { folder: "t", coef: 2, rewardCoef: 1 } },
  );
  const settled = settleRecorded([group()], taught, {});
  expect(() => recordedBatch(settled, taught)).toThrow("no teacher log-probs of math problem 17, attempt 0");
  const teacher = encode(Float32Array.of(-1, -0.5, -0.25));
  const groups = [group({ rollouts: [member(0, 1), member(1, 0)].map((line) => ({ ...line, teacher })) })];
  const { data, teacherLogprobs } = recordedBatch(settleRecorded(groups, taught, {}), taught);
  expect(Array.from(teacherLogprobs!)).toEqual([0, 0, -1, -0.5, -0.25, 0, 0, -1, -0.5, -0.25]);
  // The gaps minus the group's mean gap, -1/12.
  const gaps = [-0.5, 0, 0.25].map((gap) => 2 * (gap + 1 / 12));
  const expected = [0, 0, ...gaps.map((a) => a + 0.5), 0, 0, ...gaps.map((a) => a - 0.5)];
  data.tokenAdvantages.forEach((advantage, t) => {
    expect(advantage).toBeCloseTo(expected[t]!, 6);
  });
});

test("reference log-probs come from the record, or are asked for", () => {
  const withKl = smallRecipe({}, { objective: { klCoef: 0.1 } });
  const settled = settleRecorded([group()], withKl, {});
  expect(() => recordedBatch(settled, withKl)).toThrow(
    "no reference log-probs of math problem 17, attempt 0",
  );
  const reference = encode(Float32Array.of(-1, -2, -4));
  const groups = [group({ rollouts: [member(0, 1), member(1, 0)].map((line) => ({ ...line, reference })) })];
  const { data } = recordedBatch(settleRecorded(groups, withKl, {}), withKl);
  expect(Array.from(data.referenceLogprobs!)).toEqual([0, 0, -1, -2, -4, 0, 0, -1, -2, -4]);
});
