import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { showSamples } from "../../lib/cli/samples.ts";
import { visibleJson } from "../../lib/shared/text/visible-text.ts";
import { boxed, ConstructedRun } from "../samples/constructed-run.ts";

let dir: string;
const HOSTILE = "<think>\u001b[2J\u202eevil\ud800</think><script>alert(1)</script>\u009b1A\rwrong\n\u2028";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-samples-verb-"));
  using run = new ConstructedRun(dir);
  for (let s = 1; s <= 4; s++)
    run.step(
      {
        problem: 1,
        reference: "12",
        said: [
          { text: boxed(11), tokens: 5 },
          { text: HOSTILE, tokens: 900 + s },
          { text: "a", tokens: 5 },
          { text: "b", tokens: 5 },
        ],
      },
      {
        problem: 2,
        domain: "code",
        reference: "\u001b[31m\u202e",
        said: [{ text: boxed(s), status: "correct" }],
      },
    );
  run.step({ problem: 1, said: [{ text: `half a megabyte ${"y".repeat(500_000)}` }] });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Matches characters that a terminal interprets. */
const ACTED_ON = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/u;

test.each([
  ["the table", {}],
  ["whole samples", { show: true }],
  ["a problem over time", { overTime: true, domain: "math", problem: 1, attempt: 1 }],
  ["problems", { problems: "all" }],
  ["hints", { hints: true }],
] as const)(
  "%s: nothing that a policy or a data set wrote acts on the terminal, as text or as JSON",
  async (_, flags) => {
    for (const columns of [20, 200]) {
      const { text, value } = await showSamples(dir, flags, columns);
      expect(text).not.toMatch(ACTED_ON);
      expect(visibleJson(value, 2)).not.toMatch(ACTED_ON);
      expect(JSON.parse(visibleJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      expect(text.length).toBeLessThan(400_000);
    }
  },
);

test("a row a sample with what it says below, newest first, as many as asked", async () => {
  const { text, value } = await showSamples(
    dir,
    { limit: 2, domain: "math", step: [1, 4], tokens: [6, 9999] },
    100,
  );
  const lines = text.split("\n");
  expect(lines[0]!.split(/ +/)).toEqual([
    "problem",
    "step",
    "group",
    "try",
    "verdict",
    "reward",
    "adv.",
    "tokens",
    "weights",
  ]);
  expect(lines[1]!.split(/ {2,}/)).toEqual(["math 1", "4", "7", "1", "wrong", "0.000", "0.000", "904", "0"]);
  expect(lines[2]).toBe("    <script>alert(1)</script>\\x9b1A wrong");
  expect(lines.at(-1)).toBe("2 of 4 completions");
  expect(value).toMatchObject({
    total: 4,
    samples: [
      { step: 4, attempt: 1 },
      { step: 3, attempt: 1 },
    ],
  });
});

test("whole: prompt, thought, response, reference, reason", async () => {
  const { text } = await showSamples(dir, { show: true, group: 1, attempt: 0 }, 80);
  for (const line of [
    "step 1, group 1, attempt 0: math problem 1 (chain, level 2)",
    "verdict: wrong, score 0: because",
    "5 tokens, ended by eos; weights 0 from token 0",
    "prompt:\n  | <bos>question 1",
    "thought:\n  | thinking about it",
    "response:\n  | \\boxed{11}",
    "reference:\n  | 12",
  ])
    expect(text).toContain(line);
});

test("filters are those of the flags", async () => {
  const total = async (flags: Parameters<typeof showSamples>[1]) =>
    ((await showSamples(dir, flags, 80)).value as { total: number }).total;
  expect(await total({})).toBe(21);
  expect(await total({ verdict: ["correct"] })).toBe(4);
  expect(await total({ tokens: [901, 902] })).toBe(2);
  expect(await total({ weights: [1, 9] })).toBe(0);
  expect(await total({ truncated: true })).toBe(0);
  expect(await total({ wrongLong: true })).toBe(1);
  expect(await total({ flippedSince: 2 })).toBe(0);
});

test("a problem over time needs its name, and must have been taken", async () => {
  const usage = { code: "HONE_ERR_USAGE" };
  await expect(showSamples(dir, { overTime: true, problem: 1 }, 80)).rejects.toMatchObject(usage);
  await expect(showSamples(dir, { overTime: true, domain: "math", problem: 9 }, 80)).rejects.toMatchObject(
    usage,
  );
  const { text, value } = await showSamples(dir, { overTime: true, domain: "code", problem: 2 }, 80);
  expect((value as { groups: unknown[] }).groups).toHaveLength(4);
  expect(text).toMatch(/step 1: correct, reward 1.000, 10 tokens +\| step 4: correct/);
  expect(text).toMatch(/boxed\{1\} +\| .*boxed\{4\}/);
});

test("a domain that the run has no problem of is an error that names those it has", async () => {
  await expect(showSamples(dir, { domain: "maths" }, 80)).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: '--domain is "maths"; the run has math, code',
  });
  await expect(showSamples(dir, { domain: "cod", problems: "all" }, 80)).rejects.toThrow(
    "the run has math, code",
  );
});
