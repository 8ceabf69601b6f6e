// docs/rewards.md as a user follows it: files written, commands typed. Mutants tried: the function never called,
// every answer worth the same, a changed function not told, rescoring by the verdicts in the journal.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readRunLog } from "../../lib/metrics/index.ts";
import { HONE } from "../fixtures/command-line.ts";
import { long } from "../long.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "docs/rewards.md"), "utf8");
const folder = mkdtempSync(join(root, "build", "rewards-"));
afterAll(() => rmSync(folder, { recursive: true }));

const sh = (command: string) => spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
const hone = (...args: readonly string[]) =>
  spawnSync(process.execPath, [...HONE, ...args], { cwd: folder, encoding: "utf8" });
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

test("hone check says who judges, and that it is in the main process", () => {
  const { stdout, status } = hone("check", "train.mjs");
  expect(stdout.replace(/\s+/g, " ")).toContain(
    "judged by reward:sorting reward: function inPlace in the main process: an endless loop there holds up the whole run",
  );
  expect(status).toBe(0);
}, 60_000);

test.runIf(long)(
  "the reward really rises",
  () => {
    const steps = ["training.steps=90", "evaluation.problemsPerDomain=2"];
    const { status, stderr } = hone("run", "train.mjs", ...set(steps), "--dir", "rising");
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

test("the run folder keeps the function by name, hash and place, and a changed one is told", () => {
  expect(hone("run", "train.mjs", ...set(SMALL), "--dir", "small").status).toBe(0);
  const kept = { function: "inPlace", sha256: expect.stringMatching(/^[0-9a-f]{64}$/), process: "main" };
  expect(JSON.parse(read("small/run.json")).config.domains.sorting.reward).toEqual(kept);
  const [start] = read("small/events.jsonl").split("\n");
  expect(JSON.parse(start!).c.domains.sorting.reward).toEqual(kept);
  const first = JSON.parse(read("small/verdicts.jsonl").split("\n")[0]!);
  expect(first).toMatchObject({ verifier: "reward:sorting", reference: { verifier: "sorting" } });

  writeFileSync(join(folder, "changed.mjs"), read("train.mjs").replace(/return .*/, "return 0.25;"));
  const more = [...SMALL, "training.steps=5"];
  const resumed = hone("run", "changed.mjs", ...set(more), "--dir", "small", "--resume");
  expect(`${resumed.stdout}${resumed.stderr}`).toMatch(
    /the recipe has changed: domains\.sorting\.reward\.sha256: "[0-9a-f]{64}" -> "[0-9a-f]{64}"/,
  );
}, 120_000);

test("hone rescore judges by the script's present function, and says what it needs without the script", () => {
  const without = hone("rescore", "small");
  expect(without.stderr).toContain("reward:sorting is the function inPlace, which is not here");
  expect(without.stderr).toContain("--recipe");
  const { stdout } = hone("rescore", "small", "--recipe", "changed.mjs", "--json");
  const [sorting] = JSON.parse(stdout).domains;
  expect(sorting).toMatchObject({ domain: "sorting", scoreAfter: 0.25, unscoredAfter: 0 });
  expect(sorting.judged).toBe(sorting.completions);
}, 60_000);

test.runIf(long)(
  "hone verify tries cases on the reward",
  () => {
    writeFileSync(
      join(folder, "more.jsonl"),
      `${read("cases.jsonl")}{"response":"0211","reference":"0112"}\n{"reference":"0112"}\n`,
    );
    const { stdout, status } = hone(
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
      hone("verify", "--recipe", "train.mjs", "--domain", "math", "--file", "more.jsonl").stderr,
    ).toContain('recipe in-place gives no reward for domain "math"');
  },
  60_000,
);
