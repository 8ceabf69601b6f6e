// `hone data` as a user types it: the verb recognizes a data set's kind from its rows, and completions get the verdicts
// that the report promises.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceCheck } from "../../../lib/cli/data-check.ts";
import { fixture } from "../../data/filtered.ts";
import { honeHere } from "../../fixtures/hone-here.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-data-verb-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const hone = (...args: string[]) => honeHere(args);

function rows(name: string, all: readonly unknown[]): string {
  const path = join(dir, name);
  writeFileSync(path, all.map((row) => JSON.stringify(row)).join("\n"));
  return path;
}

const checked = async (...args: string[]) => {
  const { status, stdout, stderr } = await hone("data", "check", ...args, "--json");
  expect([status, stderr]).toEqual([0, ""]);
  return (JSON.parse(stdout) as SourceCheck[])[0]!;
};

test("verl's rows: the check accepts the gold in the form that the prompts ask for, and so does verify", async () => {
  const found = await checked(fixture("verl.parquet"));
  expect(found.report).toMatchObject({
    kind: "verl",
    rows: 2,
    bad: [],
    answers: [{ reason: "ground_truth, asked for after Answer:", rows: 2 }],
  });
  expect(found.gold).toEqual({ accepted: 2, rejected: [], unscored: [], without: 0 });
  const cases = [
    { gold: "34", after: "Answer:", response: "17 and 17.\n\nAnswer: $34$" },
    { gold: "34", after: "Answer:", response: "Answer: 35" },
    { gold: ["\\frac12", "50\\%"], after: "####", response: "#### 0.5" },
    { gold: "34", response: "Answer: 34" },
  ];
  const { stdout } = await hone("verify", "--domain", "math", "--file", rows("cases.jsonl", cases));
  const statuses = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { status: string }).status);
  expect(statuses).toEqual(["correct", "wrong", "correct", "no_answer"]);
}, 120_000);

test("verl's rows of code are told by most of the first rows, or by who is to judge", async () => {
  const prompt = [{ role: "user", content: "Print twice the number, in a ```python block." }];
  const ground_truth = JSON.stringify({ inputs: ["1"], outputs: ["2"] });
  const code = { ability: "code", prompt, reward_model: { ground_truth } };
  const math = { ability: "math", prompt: "1 + 1?", reward_model: { ground_truth: "2" } };
  const path = rows("mixed.jsonl", [math, code, { ...code, prompt: "Twice?" }]);
  expect((await checked(path)).report).toMatchObject({ kind: "verl", training: 2, leftOut: [{ rows: 1 }] });
  expect((await checked(path, "--kind", "verl")).report).toMatchObject({ training: 2 });
  expect((await checked(path, "--kind", "verl", "--verifier", "math")).report).toMatchObject({
    training: 1,
    leftOut: [{ reason: 'code: another source with verifier "code" reads it', rows: 2 }],
  });
}, 120_000);

test("a verifier that judges no such rows, or that there is none of, is an error that names those there are", async () => {
  for (const name of ["logic", "choice"]) {
    const { status, stderr } = await hone("data", "check", fixture("verl.parquet"), "--verifier", name);
    expect(status).toBe(2);
    expect(stderr).toContain(`math or code judges it, not ${name}`);
  }
  for (const verb of ["check", "count"]) {
    const { status, stderr } = await hone("data", verb, fixture("verl.parquet"), "--verifier", "logci");
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^HONE_ERR_USAGE {2}--verifier: there is no verifier named "logci"\n {2}hint: Did you mean logic\? Known verifiers: .*math.*\.\n$/,
      ),
    ]);
  }
  const far = await hone("data", "check", fixture("verl.parquet"), "--verifier", "judge-of-everything");
  expect(far.stderr).toContain("hint: Known verifiers: ");
});
