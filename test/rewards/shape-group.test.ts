import { describe, expect, test } from "vitest";
import type { FinishReason, Problem, Rollout, Verdict } from "../../lib/records.ts";
import {
  type ShapingOptions,
  shapeGroup,
  trainedMembers,
  withRewards,
} from "../../lib/rewards/shape-group.ts";

// Deliberate faults (mutants) that these tests detect: the solve rate covers all members instead of the scored ones,
// or uses score >= 0.5; unscored members keep score 0; minGroupSize is compared with <=.

const problem: Problem = {
  id: 7,
  domain: "math",
  family: "chain",
  level: 1,
  question: "Apply to 4: +4 *3 mod 5",
  verifier: "residue",
  reference: { value: 4, modulus: 5 },
};
const rollout = (attempt: number, length: number, finish: FinishReason): Rollout => ({
  problem,
  attempt,
  promptTokens: new Int32Array(3),
  tokens: new Int32Array(length),
  logprobs: new Float32Array(length),
  entropies: new Float32Array(length),
  versions: new Uint32Array(length),
  oldestKvVersions: new Uint32Array(length),
  finish,
  text: "",
  submittedMs: 0,
  finishedMs: 1,
});
const right: Verdict = { status: "correct", score: 1, reason: "" };
const wrong: Verdict = { status: "wrong", score: 0, reason: "" };
const half: Verdict = { status: "partial", score: 0.5, reason: "" };
const lost: Verdict = { status: "unscored", cause: "worker lost" };

const options: ShapingOptions = {
  lengthPenalty: { kind: "dap", maxOutputTokens: 16000, bufferTokens: 2000 },
  advantage: { divideBy: "none" },
  filter: "score",
  minGroupSize: 2,
};
const shape = (
  members: readonly (readonly [number, FinishReason, Verdict])[],
  change: Partial<ShapingOptions> = {},
) =>
  shapeGroup(
    problem,
    members.map(([length, finish], i) => rollout(i, length, finish)),
    members.map(([, , verdict]) => verdict),
    3,
    { ...options, ...change },
  );

test("the worked group of the difficulty-aware penalty from rollouts to advantages", () => {
  const { group, unscored } = shape([
    [15000, "eos", right],
    [9000, "eos", right],
    [8000, "eos", wrong],
    [8000, "eos", wrong],
    [8000, "eos", wrong],
    [15500, "stop", wrong],
    [16000, "length", wrong],
    [16000, "length", wrong],
  ]);
  expect(unscored).toEqual([]);
  expect(group).toMatchObject({ problem, solveRate: 0.25, submittedVersion: 3 });
  expect(group.dropped).toBeUndefined();
  expect(group.rollouts.map((member) => member.reward)).toEqual([0.875, 1, 0, 0, 0, -0.75, -1, -1]);
  expect(group.rollouts.map((member) => member.penaltyScale)).toEqual([0.25, 0.25, 1, 1, 1, 1, 1, 1]);
  expect(group.rollouts.map((member) => member.penalty)).toEqual([-0.5, 0, 0, 0, 0, -0.75, -1, -1]);
  expect(group.rollouts.map((member) => member.advantage)).toEqual([
    0.984375, 1.109375, 0.109375, 0.109375, 0.109375, -0.640625, -0.890625, -0.890625,
  ]);
});

test("a partly right answer is not solved: its penalty is scaled as that of a wrong one", () => {
  const { group } = shape([
    [15000, "eos", half],
    [100, "eos", right],
  ]);
  expect(group.solveRate).toBe(0.5);
  expect(group.rollouts[0]).toMatchObject({ reward: 0, penaltyScale: 1, penalty: -0.5 });
});

test("unscored members leave the group before any statistic", () => {
  const { group, unscored } = shape([
    [10, "eos", right],
    [10, "eos", lost],
    [10, "eos", wrong],
  ]);
  expect(group.solveRate).toBe(0.5);
  expect(group.rollouts.map((member) => [member.rollout.attempt, member.advantage])).toEqual([
    [0, 0.5],
    [2, -0.5],
  ]);
  expect(unscored.map(({ rollout: { attempt }, cause }) => [attempt, cause])).toEqual([[1, "worker lost"]]);
});

test.each([
  ["unscored", [lost, lost], {}],
  ["too-small-group", [right, lost], {}],
  ["too-small-group", [right, wrong, lost], { minGroupSize: 3 }],
  ["zero-advantage", [right, right], {}],
  ["zero-advantage", [wrong, wrong], { filter: "reward" }],
  [undefined, [right, right], { filter: "none" }],
  [undefined, [right, wrong], {}],
] as const)("dropped as %s: %j with %j", (reason, verdicts, change) => {
  const { group } = shape(
    verdicts.map((verdict) => [10, "eos", verdict] as const),
    change,
  );
  expect(group.dropped).toBe(reason);
});

test("the filter by score drops an all-wrong group of different lengths, the filter by reward keeps it", () => {
  const members = [
    [8000, "eos", wrong],
    [15500, "eos", wrong],
  ] as const;
  expect(shape(members).group.dropped).toBe("zero-advantage");
  expect(shape(members, { filter: "reward" }).group.dropped).toBeUndefined();
});

test("a table prices verdicts before the length penalty; scores and the filter on them stay", () => {
  const members = [
    [9000, "eos", right],
    [16000, "length", right],
    [15000, "eos", wrong],
  ] as const;
  const { group } = shape(members, { reward: "success_and_format", filter: "reward" });
  expect(group.rollouts.map(({ reward }) => reward)).toEqual([1, 0 - 1, 0 - 0.5]);
  expect(group.rollouts.map(({ verdict }) => verdict.score)).toEqual([1, 1, 0]);
  const allRight = members.slice(0, 2);
  const flat = { reward: "success_and_format", lengthPenalty: { kind: "none" } } as const;
  expect(shape(allRight, { ...flat, filter: "score" }).group.dropped).toBe("zero-advantage");
  expect(shape(allRight, { ...flat, filter: "reward" }).group.dropped).toBeUndefined();
  expect(shape(allRight, { ...flat, reward: "score", filter: "reward" }).group.dropped).toBe(
    "zero-advantage",
  );
});

describe("overlong filtering", () => {
  const members = [
    [9000, "eos", right],
    [16000, "length", right],
    [16000, "length", wrong],
    [8000, "stop", wrong],
  ] as const;

  test("masks what was cut, whatever its verdict, and leaves rewards and baseline as they are", () => {
    const kept = shape(members).group;
    const { group } = shape(members, { overlong: "mask" });
    expect(group.rollouts.map(({ masked }) => masked)).toEqual([false, true, true, false]);
    expect(group.rollouts.map(({ reward, advantage }) => [reward, advantage])).toEqual(
      kept.rollouts.map(({ reward, advantage }) => [reward, advantage]),
    );
    expect(group.solveRate).toBe(0.5);
    expect(group.dropped).toBeUndefined();
    expect(trainedMembers(group)).toEqual([group.rollouts[0], group.rollouts[3]]);
    expect(kept.rollouts.every((member) => !("masked" in member))).toBe(true);
    expect(trainedMembers(kept)).toEqual(kept.rollouts);
  });

  test("drops a group of which nothing is left, after the other reasons", () => {
    const cut = [members[1], members[2]];
    expect(shape(cut, { overlong: "mask" }).group.dropped).toBe("overlong");
    expect(shape(cut, { overlong: "mask", filter: "none" }).group.dropped).toBe("overlong");
    expect(shape(cut).group.dropped).toBeUndefined();
    const same = [members[2], members[2]];
    expect(shape(same, { overlong: "mask" }).group.dropped).toBe("zero-advantage");
  });

  test("holds when a hook gives other rewards", () => {
    const { group } = shape(members, { overlong: "mask" });
    const other = withRewards(group, [0, 1, 2, 3], { ...options, overlong: "mask" });
    expect(other.rollouts.map(({ masked }) => masked)).toEqual([false, true, true, false]);
    expect(other.rollouts.map(({ advantage }) => advantage)).toEqual([-1.5, -0.5, 0.5, 1.5]);
  });
});

test("where the best of k is the same without any member there is no signal, unless every group is kept", () => {
  const plain = { lengthPenalty: { kind: "none" }, advantage: { divideBy: "none", passAt: 2 } } as const;
  const three = [right, right, wrong].map((verdict) => [9, "eos", verdict] as const);
  const four = [...three, [9, "eos", right] as const];
  const advantages = ({ group }: ReturnType<typeof shape>) =>
    group.rollouts.map(({ advantage }) => advantage);
  // among three, every set of two has a right one: the best is 1 with and without any attempt
  expect(shape(three, plain).group.dropped).toBe("zero-advantage");
  expect(shape(four, { ...plain, filter: "none" }).group.dropped).toBeUndefined();
  expect(advantages(shape(four, plain))).toEqual([0, 0, 0, 0]);
  const hard = [right, wrong, wrong].map((verdict) => [9, "eos", verdict] as const);
  expect(advantages(shape(hard, plain))).toEqual([1, -0.5, -0.5]);
});
