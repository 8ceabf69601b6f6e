// Deliberate faults (mutants) that these tests detect: no time limit, a late call scores 0, an unscored call is not
// retried, retries never end, calls are unbounded, a blocked thread goes unnoticed, the signal is never aborted,
// waiting counts as the workers' time.
import { expect, test } from "vitest";
import type { RewardFunction } from "../../../lib/domains/index.ts";
import type { Problem } from "../../../lib/records.ts";
import { FunctionVerifier } from "../../../lib/rewards/pool/function-verifier.ts";

import { obedient } from "../../fixtures/verifiers/rewards.ts";

const problem: Problem = {
  id: 1,
  domain: "math",
  family: "f",
  level: 0,
  question: "",
  verifier: "reward:math",
  reference: { prompt: "say right", verifier: "math", reference: "right" },
};
const asked = (...texts: readonly string[]) =>
  texts.map((text) => ({ problem, text, finish: "eos" as const }));

function open(reward: RewardFunction, change: { timeoutMs?: number; concurrency?: number } = {}) {
  const closing = new AbortController();
  const options = { reward, timeoutMs: 60, concurrency: 8, closing: closing.signal, ...change };
  return { closing, verifier: new FunctionVerifier(options) };
}

test("every way to answer, and to fail, in the order of the requests", async () => {
  const { verifier } = open(obedient as RewardFunction);
  const texts = [
    "right",
    "other",
    "verdict",
    "throw",
    "NaN",
    "high",
    "text",
    "nothing",
    "unscored",
    "wrong verdict",
  ];
  expect(await verifier.judge(asked(...texts))).toEqual([
    { status: "correct", score: 1, reason: "reward 1" },
    { status: "partial", score: 0.5, reason: "reward 0.5" },
    { status: "partial", score: 0.25, reason: "a verdict" },
    { status: "unscored", cause: "the reward threw: my bug" },
    { status: "unscored", cause: "the reward returned NaN, which is not a finite number" },
    { status: "correct", score: 1.5, reason: "reward 1.5" },
    { status: "unscored", cause: 'the reward returned "0.5", neither a number, a boolean nor a verdict' },
    { status: "unscored", cause: "the reward returned undefined, neither a number, a boolean nor a verdict" },
    { status: "unscored", cause: "the service is down" },
    { status: "unscored", cause: "the verifier returned status correct with score 0.5" },
  ]);
  const { calls, retries, unscored, timeouts } = verifier.meter.snapshot();
  expect({ calls, retries, unscored, timeouts }).toEqual({ calls: 16, retries: 6, unscored: 6, timeouts: 0 });
});

test("what does not settle is left behind at the limit, twice, and never scored", async () => {
  const { verifier } = open(obedient as RewardFunction);
  const late = { status: "unscored", cause: "the reward gave no answer in 60 ms" };
  expect(await verifier.judge(asked("wait", "wait politely", "right"))).toEqual([
    late,
    late,
    expect.objectContaining({ score: 1 }),
  ]);
  const { timeouts, retries, unscored, busyMs } = verifier.meter.snapshot();
  expect({ timeouts, retries, unscored, busyMs }).toEqual({
    timeouts: 4,
    retries: 2,
    unscored: 2,
    busyMs: 0,
  });
});

test("a fault that passes is judged the second time", async () => {
  let calls = 0;
  const { verifier } = open(() => {
    if (calls++ === 0) throw new Error("once");
    return 1;
  });
  expect(await verifier.judge(asked("x"))).toMatchObject([{ status: "correct" }]);
  expect(verifier.meter.snapshot()).toMatchObject({ retries: 1, unscored: 0 });
});

test("a function that holds up the thread beyond the limit scores 0 once it returns", async () => {
  const { verifier } = open(() => {
    const until = performance.now() + 90;
    while (performance.now() < until);
    return 1;
  });
  expect(await verifier.judge(asked("x"))).toEqual([
    { status: "wrong", score: 0, reason: "verification took over 60 ms" },
  ]);
  expect(verifier.meter.snapshot()).toMatchObject({ timeouts: 1, retries: 0 });
});

test("no more calls at once than it may", async () => {
  let running = 0;
  let most = 0;
  const { verifier } = open(
    async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return 1;
    },
    { concurrency: 3, timeoutMs: 5000 },
  );
  expect(await verifier.judge(asked(..."abcdefghij"))).toHaveLength(10);
  expect(most).toBe(3);
});

test("the end of a run aborts what is under way and begins nothing more", async () => {
  const signals: AbortSignal[] = [];
  const { verifier, closing } = open(
    ({ signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    },
    { timeoutMs: 60_000, concurrency: 1 },
  );
  const verdicts = verifier.judge(asked("a", "b"));
  closing.abort();
  expect((await verdicts).map(({ status }) => status)).toEqual(["unscored", "unscored"]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});
