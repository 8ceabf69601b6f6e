// Follows docs/how-to/rewards.md as a user does: writes its files, types its commands. Deliberate faults (mutants)
// that these tests detect: the function is never called, every answer scores the same, a changed function is not
// reported, rescoring uses the journal's verdicts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readRunLog } from "../../lib/metrics/index.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { long, longest } from "../long.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "docs/how-to/rewards.md"), "utf8");
const folder = mkdtempSync(join(root, "build", "rewards-"));
afterAll(() => rmSync(folder, { recursive: true }));

const sh = (command: string) => spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
const hone = (...args: readonly string[]) => honeHere(args, {}, folder);
const SMALL = ["training.steps=4", "training.groupsPerStep=4", "evaluation.problemsPerDomain=2"];
const set = (fields: readonly string[]) => fields.flatMap((field) => ["--set", field]);
const read = (file: string) => readFileSync(join(folder, file), "utf8");

beforeAll(() => {
  for (const [, command] of page.matchAll(/```sh\n(node -e .*|echo .*)\n/g))
    expect(sh(command!).status).toBe(0);
  const [, name, code] = /```js file=(\S+)\n([\s\S]*?)```/.exec(page)!;
  expect(code!.trim().split("\n")).toHaveLength(15);
  writeFileSync(join(folder, name!), code!);
});

test("hone check says who judges, and that it is in the main process", async () => {
  const { stdout, status } = await hone("check", "train.mjs");
  expect(stdout.replace(/\s+/g, " ")).toContain(
    "judged by reward:sorting reward: function inPlace in the main process: an endless loop there holds up the whole run",
  );
  expect(status).toBe(0);
}, 60_000);

test.runIf(longest)(
  "the reward really rises",
  async () => {
    const steps = ["training.steps=90", "evaluation.problemsPerDomain=2"];
    const { status, stderr } = await hone("run", "train.mjs", ...set(steps), "--dir", "rising");
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    const rewards = readRunLog(join(folder, "rising/steps.jsonl")).map(
      ({ metrics }) => metrics["reward/mean"] ?? 0,
    );
    const mean = (of: readonly number[]) => of.reduce((sum, one) => sum + one, 0) / of.length;
    expect(mean(rewards.slice(0, 10))).toBeLessThan(0.03);
    expect(mean(rewards.slice(-10))).toBeGreaterThan(0.1);
  },
  300_000,
);

test("the run folder keeps the function by name, hash and place, and a changed one is told", async () => {
  expect((await hone("run", "train.mjs", ...set(SMALL), "--dir", "small")).status).toBe(0);
  const kept = { function: "inPlace", sha256: expect.stringMatching(/^[0-9a-f]{64}$/), process: "main" };
  expect(JSON.parse(read("small/run.json")).config.domains.sorting.reward).toEqual(kept);
  const [start] = read("small/events.jsonl").split("\n");
  expect(JSON.parse(start!).c.domains.sorting.reward).toEqual(kept);
  const first = JSON.parse(read("small/verdicts.jsonl").split("\n")[0]!);
  expect(first).toMatchObject({ verifier: "reward:sorting", reference: { verifier: "sorting" } });

  writeFileSync(join(folder, "changed.mjs"), read("train.mjs").replace(/return .*/, "return 0.25;"));
  const more = [...SMALL, "training.steps=5"];
  const resumed = await hone("run", "changed.mjs", ...set(more), "--dir", "small", "--resume");
  expect(`${resumed.stdout}${resumed.stderr}`).toMatch(
    /the recipe has changed: domains\.sorting\.reward\.sha256: "[0-9a-f]{64}" -> "[0-9a-f]{64}"/,
  );
}, 120_000);

test("hone rescore judges by the script's present function, and says what it needs without the script", async () => {
  const without = await hone("rescore", "small");
  expect(without.stderr).toContain(
    "reward:sorting is the function inPlace, which is not available in this process",
  );
  expect(without.stderr).toContain("--recipe");
  const { stdout } = await hone("rescore", "small", "--recipe", "changed.mjs", "--json");
  const [sorting] = JSON.parse(stdout).domains;
  expect(sorting).toMatchObject({ domain: "sorting", scoreAfter: 0.25, unscoredAfter: 0 });
  expect(sorting.judged).toBe(sorting.completions);
}, 60_000);

test.runIf(long)(
  "hone verify tries cases on the reward",
  async () => {
    writeFileSync(
      join(folder, "more.jsonl"),
      `${read("cases.jsonl")}{"response":"0211","reference":"0112"}\n{"reference":"0112"}\n`,
    );
    const { stdout, status } = await hone(
      "verify",
      "--recipe",
      "train.mjs",
      "--domain",
      "sorting",
      "--file",
      "more.jsonl",
    );
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { status: "correct", score: 1, reason: "reward 1" },
      { status: "partial", score: 0.5, reason: "reward 0.5" },
      { status: "unscored", cause: expect.stringContaining("more.jsonl:3: reward case: response") },
    ]);
    expect(status).toBe(4);
    expect(
      (await hone("verify", "--recipe", "train.mjs", "--domain", "math", "--file", "more.jsonl")).stderr,
    ).toContain('recipe in-place gives no reward for domain "math"');
  },
  60_000,
);

const noPython = spawnSync("python3", ["--version"]).status !== 0;

test.skipIf(noPython)(
  "the Python files of the page judge a run, and Python itself gives the same scores",
  async () => {
    for (const [, name, code] of page.matchAll(/```(?:py|js) file=((?!train)\S+)\n([\s\S]*?)```/g))
      writeFileSync(join(folder, name!), code!);
    const rows = Array.from({ length: 40 }, (_, n) => n);
    const lines = (of: (n: number) => object) => rows.map((n) => `${JSON.stringify(of(n))}\n`).join("");
    writeFileSync(
      join(folder, "boxed.jsonl"),
      lines((n) => ({ prompt: `${n}+1`, solution: `${n + 1}` })),
    );
    const verl = (n: number) => ({
      data_source: "openai/gsm8k",
      prompt: [{ role: "user", content: `${n}?` }],
      reward_model: { style: "rule", ground_truth: `${n}` },
      extra_info: { index: n },
    });
    writeFileSync(join(folder, "verl.jsonl"), lines(verl));
    const checked = await hone("check", "python.mjs");
    expect([checked.status, checked.stderr]).toEqual([0, expect.any(String)]);
    const said = checked.stdout.replace(/\s+/g, " ");
    expect(said).toMatch(
      /accuracy_reward\(completions, solution, \*\*kwargs\) of rewards\.py, called as TRL does, Python \S+ at \S+; to an empty answer it gave -1 /,
    );
    expect(said).toMatch(/compute_score\(.*\) of gsm8k_reward\.py, called as verl does, .* it gave 0 /);
    // Exit code 4 is allowed: with random weights no group may have answers that differ.
    const ran = await hone("run", "python.mjs", "--dir", "python", "--overwrite");
    expect([ran.status, ran.stderr]).toEqual([expect.toBeOneOf([0, 4]), expect.any(String)]);
    const journal = read("python/verdicts.jsonl")
      .trim()
      .split("\n")
      .map((one) => JSON.parse(one));
    const problems = new Map(
      journal.flatMap((one) => (one.problem === undefined ? [] : [[one.problem, one]])),
    );
    const texts = new Map(journal.flatMap((one) => ("text" in one ? [[one.completion, one]] : [])));
    const judged = journal
      .filter((one) => one.verdict !== undefined)
      .map(({ verdict, on }) => ({
        verdict,
        text: texts.get(on).text,
        problem: problems.get(texts.get(on).of),
      }));
    expect(new Set(judged.map(({ problem }) => problem.domain))).toEqual(new Set(["boxed", "words"]));
    const script = `import json, sys, rewards, gsm8k_reward
print(json.dumps([[rewards.accuracy_reward([t], [c["solution"]])[0], rewards.format_reward([t])[0]] if "solution" in c
  else gsm8k_reward.compute_score(c["data_source"], t, c["reward_model"]["ground_truth"], c["extra_info"])["score"]
  for t, c in json.load(sys.stdin)]))`;
    const { stdout, stderr } = spawnSync("python3", ["-c", script], {
      cwd: folder,
      encoding: "utf8",
      input: JSON.stringify(judged.map(({ text, problem }) => [text, problem.reference.columns])),
    });
    expect(stdout, stderr).not.toBe("");
    for (const [i, expected] of (JSON.parse(stdout) as (number | [number, number])[]).entries()) {
      const { verdict } = judged[i]!;
      if (typeof expected === "number") expect(verdict.score).toBe(expected);
      else expect(verdict.parts).toEqual({ accuracy: expected[0], format: expected[1] });
      if (typeof expected !== "number")
        expect(verdict.score).toBeCloseTo((2 * expected[0] + expected[1]) / 3, 12);
    }
  },
  120_000,
);

test.skipIf(noPython)(
  "hone verify tries cases on the page's Python files",
  async () => {
    const cases = [
      ["<think>x</think> \\boxed{4}", 1],
      ["\\boxed{4}", 2 / 3],
      ["<think>x</think> \\boxed{5}", -1 / 3],
      ["none", -2 / 3],
    ] as const;
    const rows = cases.map(([response]) =>
      JSON.stringify({ prompt: "2+2", response, reference: { solution: "4" } }),
    );
    writeFileSync(join(folder, "python-cases.jsonl"), rows.join("\n"));
    const args = ["--recipe", "python.mjs", "--domain", "boxed", "--file", "python-cases.jsonl"];
    const { stdout, status } = await hone("verify", ...args);
    const scores = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).score);
    expect(scores).toEqual(cases.map(([, score]) => expect.closeTo(score, 12)));
    expect(status).toBe(0);
  },
  60_000,
);
