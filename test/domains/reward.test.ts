// Deliberate faults (mutants) that these tests detect: NaN counts as 0, the prompt is left out, the answer includes
// the reasoning, held-out problems are judged by their own verifier.
import { expect, test } from "vitest";
import type { ProblemSource } from "../../lib/data/index.ts";
import {
  rewardedBy,
  rewardedReference,
  rewardInput,
  rewardName,
  rewardVerdict,
} from "../../lib/domains/reward.ts";
import type { Problem, Verdict } from "../../lib/records.ts";

const problem: Problem = {
  id: 3,
  domain: "math",
  family: "f",
  level: 1,
  question: "2+2?",
  verifier: "math",
  reference: { answer: "4" },
};
const source: ProblemSource = {
  domain: "math",
  families: ["f"],
  problem: (id) => ({ ...problem, id }),
  heldOut: (id) => ({ ...problem, id }),
  heldOutCount: 7,
  heldOutKeys: ["k"],
};

test("problems name the recipe's reward and bring all that it may ask, trained and held out", () => {
  const own = rewardedBy(source, "math");
  const reference = { prompt: "2+2?", verifier: "math", reference: { answer: "4" } };
  for (const made of [own.problem(3), own.heldOut(3)])
    expect(made).toEqual({ ...problem, verifier: "reward:math", reference });
  expect([own.domain, own.families, own.heldOutCount, own.heldOutKeys]).toEqual(["math", ["f"], 7, ["k"]]);
});

test("no domain and part share a name, whatever their letters", () => {
  const names = [rewardName("a"), rewardName("a/b"), rewardName("a", "b"), rewardName("a/b", "c")];
  expect(new Set(names).size).toBe(4);
});

test("a problem without a reference can be judged", () => {
  const { reference } = rewardedBy(
    { ...source, problem: () => ({ ...problem, reference: undefined }) },
    "math",
  ).problem(0);
  expect(rewardedReference(JSON.parse(JSON.stringify(reference)))).toMatchObject({ prompt: "2+2?" });
});

test("a reference of another shape is refused by what is wrong with it", () => {
  expect(() => rewardedReference("4")).toThrow(
    "reward: the reference is not { prompt, verifier, reference }",
  );
});

test("a reward sees prompt, completion, what follows the thought, and the reference", () => {
  const { signal } = new AbortController();
  const reference = { prompt: "2+2?", verifier: "math", reference: 4 };
  const input = rewardInput({ text: "<think>4?</think> 4 <eos>", finish: "eos" }, reference, signal);
  expect(input).toEqual({
    prompt: "2+2?",
    completion: "<think>4?</think> 4 <eos>",
    answer: "4",
    finish: "eos",
    reference: 4,
    signal,
  });
  expect(rewardInput({ text: "<think>4", finish: "length" }, reference, signal).answer).toBe("");
});

const same = (verdict: Verdict) => verdict;
test.each([
  [1, { status: "correct", score: 1 }],
  [0.25, { status: "partial", score: 0.25 }],
  [0, { status: "wrong", score: 0 }],
  [-0, { status: "wrong", score: 0 }],
  [1.05, { status: "correct", score: 1.05 }],
  [-1, { status: "wrong", score: -1 }],
  [true, { status: "correct", score: 1 }],
  [false, { status: "wrong", score: 0 }],
])("%j is a score", (returned, verdict) => {
  expect(rewardVerdict(returned, same)).toMatchObject(verdict);
});

test.each([
  [Number.NaN, "the reward returned NaN, which is not a finite number"],
  [Number.POSITIVE_INFINITY, "the reward returned Infinity, which is not a finite number"],
  ["0.5", 'the reward returned "0.5", neither a number, a boolean nor a verdict'],
  [undefined, "the reward returned undefined, neither a number, a boolean nor a verdict"],
  [null, "the reward returned null, neither a number, a boolean nor a verdict"],
  [{ score: 1 }, 'the reward returned {"score":1}, neither a number, a boolean nor a verdict'],
  [[1], "the reward returned [1], neither a number, a boolean nor a verdict"],
])("%j is no score", (returned, cause) => {
  expect(rewardVerdict(returned, same)).toEqual({ status: "unscored", cause });
});

test("anything else is checked as a verdict", () => {
  const asked: unknown[] = [];
  rewardVerdict({ status: "correct" }, (verdict) => {
    asked.push(verdict);
    return verdict;
  });
  expect(asked).toEqual([{ status: "correct" }]);
});
