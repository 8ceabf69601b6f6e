import { expect, test } from "vitest";
import { hintsText, problemsText, samplesText, wholeSampleText } from "../../lib/cli/sample-tables.ts";
import { width } from "../../lib/report/ansi.ts";
import type { WholeSample } from "../../lib/samples/index.ts";

const sample = (of: Partial<WholeSample> = {}): WholeSample => ({
  row: 0,
  step: 3,
  group: 5,
  attempt: 1,
  domain: "math",
  problem: 7,
  drawn: 7,
  family: "chain",
  level: 0,
  status: "wrong",
  finish: "eos",
  tokens: 12,
  chars: 4,
  versions: [2, 3],
  completion: "0",
  text: "text",
  response: "response",
  reference: { answer: "7" },
  verifier: "math",
  versionRuns: [0, 2, 6, 3],
  ...of,
});

test("no line is wider than the terminal, whatever is written", () => {
  const wide = sample({ response: "二".repeat(500), domain: "d".repeat(60) });
  for (const columns of [10, 40, 80])
    for (const line of samplesText(1, [wide], columns).split("\n").slice(0, -1))
      expect(width(line)).toBeLessThanOrEqual(columns);
});

test("what was not judged or not trained on is said", () => {
  const text = samplesText(9, [sample({ dropped: "hook" }), sample({ masked: true, finish: "length" })], 200);
  expect(text).toMatch(/wrong, hook +- +- +12 +2\.\.3/);
  expect(text).toMatch(/wrong, masked +- +- +12 cut/);
  expect(text).toContain("2 of 9 completions");
  const whole = wholeSampleText(
    sample({ dropped: "zero-advantage", rescored: "correct", reason: "not equal" }),
  );
  expect(whole).toContain("verdict: wrong: not equal\njudged again: correct\nnot trained on: zero-advantage");
  expect(whole).toContain("weights 2 from token 0, 3 from token 6");
  expect(whole).not.toMatch(/reward|prompt|thought/);
});

test("a completion that only thinks shows what it thinks; a long text its two ends", () => {
  expect(samplesText(1, [sample({ response: " ", thought: "on and on" })], 80)).toContain(
    "    (thinks) on and on",
  );
  const whole = wholeSampleText(sample({ response: `start${"x".repeat(100_000)}end` }));
  expect(whole).toMatch(/start.*\n {2}\| \[\.\.\. 60008 characters \.\.\.\]\n.*end/);
});

test("problems and hints", () => {
  const problem = {
    domain: "math",
    problem: 7,
    family: "chain",
    level: 1,
    groups: 2,
    judged: 8,
    unscored: 0,
    identity: "0".repeat(32),
    row: "data/rows.jsonl:17",
    begins: "Sort\u001b these",
  };
  const rates = {
    solved: 2,
    solveRate: 0.25,
    firstRate: 0,
    lastRate: 0.5,
    firstStep: 1,
    lastStep: 9,
    meanTokens: 10.4,
  };
  const text = problemsText({ total: 3, problems: [{ ...problem, ...rates }] }, 200);
  expect(text).toMatch(
    /math 7 +rows.jsonl:17 +chain +1 +2 +8 +0 +25 % +0 % +50 % +1\.\.9 +10 +Sort\\x1b these\n\n1 of 3 problems/,
  );
  expect(hintsText([], 80)).toContain("No signs of reward hacking");
  const hint = { kind: "one-answer", domain: "math", says: "all say 4.", evidence: {} } as const;
  expect(hintsText([{ ...hint, quotes: { answer: "4\n\u001b[1m" }, samples: [sample()] }], 80)).toBe(
    "one-answer: all say 4.\n  answer: 4 \\x1b[1m\n  see: step 3 group 5 attempt 1",
  );
});

test("hints are wrapped to the columns of a terminal, between words", () => {
  const hint = {
    kind: "one-answer",
    domain: "math",
    says: "most of them say 4 ".repeat(9),
    evidence: {},
  } as const;
  const lines = hintsText([{ ...hint, samples: [1, 2, 3].map((step) => sample({ step })) }], 50).split("\n");
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(50);
  expect(lines.map((line) => line.trim()).join(" ")).toBe(
    `one-answer: ${hint.says} see: step 1 group 5 attempt 1 step 2 group 5 attempt 1 step 3 group 5 attempt 1`.replace(
      / {2}/g,
      " ",
    ),
  );
});

test("a draw under another id than its problem's first is said: hone explain asks for it", () => {
  expect(wholeSampleText(sample())).toContain("math problem 7 (chain, level 0)");
  expect(wholeSampleText(sample({ drawn: 19 }))).toContain("math problem 7, drawn as 19 (chain, level 0)");
});
