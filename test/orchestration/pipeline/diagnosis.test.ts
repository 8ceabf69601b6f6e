import { expect, test } from "vitest";
import { diagnose, type PipelineFacts } from "../../../lib/orchestration/pipeline/diagnosis.ts";

const code = {
  name: "code",
  out: 14,
  oldestMs: 31_000,
  limitMs: 10_000,
  calls: 9,
  timeouts: 9,
  crashes: 0,
  unscored: 0,
  p50Ms: 1,
  p95Ms: 2,
};
const idle: PipelineFacts = {
  step: 40,
  paused: false,
  training: false,
  credits: { free: 3, total: 32 },
  outstanding: 29,
  running: 0,
  waiting: 0,
  verifying: 0,
  ready: 5,
  wanted: 8,
  verifiers: [{ ...code, out: 0 }],
  workers: 2,
  recentTimeouts: { code: 0 },
};
const says = (change: Partial<PipelineFacts>) => diagnose({ ...idle, ...change }).sentence;

test("a slow verifier is named with its limit, its time-outs and the size of the pool", () => {
  expect(says({ verifying: 2, verifiers: [code], recentTimeouts: { code: 14 } })).toBe(
    "trainer waits for verifier `code`: 14 completions out, the oldest for 31 s, 14 hit their 10 s limit since the step began; pool of 2",
  );
  expect(says({ verifying: 2, verifiers: [{ ...code, oldestMs: 1250 }] })).toBe(
    "trainer waits for verifier `code`: 14 completions out, the oldest for 1.3 s (10 s limit each); pool of 2",
  );
});

test("of several verifiers the one with the oldest completion is named", () => {
  const math = { ...code, name: "math", out: 90, oldestMs: 400 };
  expect(says({ verifying: 2, verifiers: [math, code] })).toContain("`code`");
});

test.each([
  [
    { running: 12, waiting: 3 },
    "trainer waits for the engine: 12 sequences running, 3 waiting for room; it has 5 of 8 groups",
  ],
  [
    { running: 12, verifying: 1, verifiers: [code] },
    "trainer waits for the engine: 12 sequences running, 0 waiting for room; it has 5 of 8 groups",
  ],
  [
    { running: 12, verifying: 1, verifiers: [code], recentTimeouts: { code: 1 } },
    "trainer waits for verifier `code`",
  ],
  [{ training: true, running: 12 }, "trainer is in step 41; beside it the engine samples 12 sequences"],
  [
    { training: true, credits: { free: 0, total: 32 } },
    "engine waits for the trainer, which is in step 41: all 32 credits are out",
  ],
  [{ training: true, verifying: 1 }, "trainer is in step 41; 1 group wait"],
  [{ training: true }, "trainer is in step 41"],
  [{ ready: 8 }, "trainer begins step 41"],
  [{}, "trainer waits for prompts: nothing is under way, 3 of 32 credits are free; it has 5 of 8 groups"],
  [{ hook: "afterStep", training: true }, "everything waits for your hook afterStep to return"],
  [
    { hook: "afterStep", doing: "the evaluation before that of step 40" },
    "everything waits for the evaluation before that of step 40",
  ],
  [{ paused: true, outstanding: 0 }, "paused after step 40: nothing is under way; resume to continue"],
  [
    { paused: true, running: 1 },
    "paused: no new prompts; of what is under way, trainer waits for the engine: 1 sequence running",
  ],
] as const)("of %j it says: %s", (change, sentence) => {
  expect(says(change)).toContain(sentence);
});

test("the key stays while numbers change, and changes with who is waited for", () => {
  const key = (change: Partial<PipelineFacts>) => diagnose({ ...idle, ...change }).key;
  expect(key({ running: 12 })).toBe(key({ running: 3, ready: 6 }));
  expect(key({ running: 12 })).not.toBe(key({ verifying: 2, verifiers: [code] }));
});
