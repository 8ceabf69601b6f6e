import { expect, test } from "vitest";
import type { FinishReason, Problem, Rollout, Verdict } from "../../lib/records.ts";
import { type ShapingOptions, shapeGroup } from "../../lib/rewards/shape-group.ts";

// Mutants tried: solve rate over all members instead of the scored ones, solve rate by score >= 0.5, unscored
// members kept with score 0, minGroupSize compared with <=.

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
