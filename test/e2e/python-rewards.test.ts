// Tests rewards that are functions of a Python file, through the commands. Deliberate faults (mutants) that these
// tests detect: the file is not hashed, the journal omits token ids, a process that ended is not replaced, None is
// asked again.
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readRunLog } from "../../lib/metrics/index.ts";
import { HONE } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { noAddon } from "./native-core.ts";

vi.setConfig({ testTimeout: 240_000 });

const folder = mkdtempSync(
  join(fileURLToPath(new URL("../../", import.meta.url)), "build", "python-rewards-"),
);
const at = (...names: string[]) => join(folder, ...names);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const REWARDS = `import os, time
open(os.path.join(os.path.dirname(__file__), "imported"), "w").close()

def digits(completions, **kwargs):
    return [sum(c.isdigit() for c in one) / max(6, len(one)) for one in completions]

def no_letters(prompts, completions, completion_ids, level, **kwargs):
    assert [isinstance(one, int) for one in level] == [True] * len(completions)
    return [-1.0 if ids and any(c.isalpha() for c in one) else 0.0 for one, ids in zip(completions, completion_ids)]

def slow(completions, **kwargs):
    time.sleep(0.4)
    return digits(completions)

def raises(completions, **kwargs):
    return [int(one) for one in completions]
`;

const domain = (judged: string) =>
  `domains: { digits: { weight: 1, source: "jsonl:rows.jsonl", ${judged} } }`;
const TWO = `rewards: {
    digits: { weight: 1, reward: { python: "rewards.py#digits" } },
    plain: { weight: 1, reward: { python: "rewards.py#no_letters" } } }`;
const recipe = (judged: string, more = "") => `import { defineRecipe } from "hone-rl";
export default defineRecipe({
  name: "py", device: "cpu",
  model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 16 } },
  ${domain(judged)},
  rollouts: { groupSize: 8, maxOutputTokens: 6, maxPromptTokens: 8 },
  lengthPenalty: { kind: "none" }, advantages: { divideBy: "none" },
  objective: { clipLow: 0.2, clipHigh: 0.2 },
  optimizer: { lr: 1e-2, warmupSteps: 2, gradientClip: 1 }, training: { steps: 45, groupsPerStep: 16 },
  evaluation: { problemsPerDomain: 4 }, ${more}
});
`;

beforeAll(() => {
  const rows = Array.from({ length: 200 }, (_, n) => JSON.stringify({ prompt: String(n), level: n % 3 }));
  writeFileSync(at("rows.jsonl"), `${rows.join("\n")}\n`);
  writeFileSync(at("rewards.py"), REWARDS);
  writeFileSync(at("train.mjs"), recipe(TWO));
  writeFileSync(at("slow.mjs"), recipe('reward: { python: "rewards.py#slow" }'));
  writeFileSync(at("raises.mjs"), recipe('reward: { python: "rewards.py#raises" }'));
});

async function hone(...args: string[]) {
  const { status, stdout, stderr } = await honeHere(args, {}, folder);
  return { status, stdout, stderr, said: `${stdout}\n${stderr}`.replace(/\s+/g, " ") };
}
const SMALL = ["--set", "training.steps=4", "--set", "training.groupsPerStep=4"];
const native = test.skipIf(noAddon !== undefined);

native("hone check shows the signature, the Python and the value for a row", async () => {
  const { status, said } = await hone("check", "train.mjs");
  expect([status, said]).toEqual([0, expect.any(String)]);
  expect(said).toMatch(/reward digits, weight 1: digits of \S+\/rewards\.py in a process of python3 /);
  expect(said).toMatch(
    /digits\(completions, \*\*kwargs\) of rewards\.py, called as TRL does, Python 3\.\d+\.\d+ at \S+; to an empty answer it gave 0 /,
  );
});

native(
  "hone check tells what is wrong with a file: not there, not importable, an exception of the user's",
  async () => {
    writeFileSync(at("missing.mjs"), recipe('reward: { python: "missing.py#f" }'));
    expect(await hone("check", "missing.mjs")).toMatchObject({
      status: 2,
      said: expect.stringMatching(
        /domains\.digits\.reward\.python: is "missing\.py#f"; no such file relative to the working folder, \//,
      ),
    });
    writeFileSync(at("unimportable.py"), "import os\nimport no_such_module\n");
    writeFileSync(at("unimportable.mjs"), recipe('reward: { python: "unimportable.py#f" }'));
    expect((await hone("check", "unimportable.mjs")).said).toMatch(
      /HONE_ERR_VERIFIER.*did not load: ModuleNotFoundError: No module named 'no_such_module' \(unimportable\.py:2, in <module>\); Python 3\.\d+\.\d+ at \//,
    );
    const raised = await hone("check", "raises.mjs");
    const line = REWARDS.split("\n").findIndex((one) => one.includes("int(one)")) + 1;
    expect(raised.said).toContain(
      "the reward failed: ValueError: invalid literal for int() with base 10: ''",
    );
    expect(raised.said).toContain(`(rewards.py:${line}, in `);
    expect(raised.stderr).toContain("rewards.py: Traceback (most recent call last):\n");
    writeFileSync(at("no-python.mjs"), recipe(TWO, 'python: { bin: "no-such-python" }'));
    expect((await hone("check", "no-python.mjs")).said).toContain(
      "no-such-python cannot be started: spawn no-such-python ENOENT",
    );
  },
);

native("two functions, one of which gives -1: the reward rises", async () => {
  const { status, said } = await hone("run", "train.mjs");
  expect([status, said]).toEqual([0, expect.any(String)]);
  const metrics = readRunLog(at("runs/py/steps.jsonl")).map((step) => step.metrics);
  const mean = (name: string, from: number, to: number) =>
    metrics.slice(from, to).reduce((sum, one) => sum + (one[name] ?? 0), 0) / (to - from);
  expect(mean("reward/mean", 0, 5)).toBeLessThan(-0.4);
  expect(mean("reward/mean", 40, 45)).toBeGreaterThan(0.2);
  expect(mean("reward/part/digits/plain", 0, 5)).toBeLessThan(-0.8);
  expect(metrics.every((one) => one["verdict/unscored"] === 0)).toBe(true);
  const { config } = JSON.parse(readFileSync(at("runs/py/run.json"), "utf8"));
  const sha256 = spawnSync("sha256sum", [at("rewards.py")], { encoding: "utf8" }).stdout.slice(0, 64);
  expect(config.domains.digits.rewards.plain.reward).toEqual({ python: "rewards.py#no_letters", sha256 });
});

native("a replay needs no Python; rescoring gives the same scores, token ids included", async () => {
  rmSync(at("imported"));
  expect(await hone("replay", "runs/py")).toMatchObject({ status: 0 });
  expect(existsSync(at("imported"))).toBe(false);
  const { status, stdout } = await hone("rescore", "runs/py", "--recipe", "train.mjs", "--json");
  expect(status).toBe(0);
  expect(JSON.parse(stdout).domains[0]).toMatchObject({ changed: 0, unscoredBefore: 0, unscoredAfter: 0 });
  expect(existsSync(at("imported"))).toBe(true);
});

native("a folder's record starts no Python unasked", async () => {
  rmSync(at("imported"));
  const { status, said } = await hone("rescore", "runs/py");
  expect([status, existsSync(at("imported"))]).toEqual([2, false]);
  expect(said).toMatch(
    /HONE_ERR_TRUST .*domains\.digits\.rewards\.digits\.reward\.python: runs \S+\/rewards\.py \(sha256 [0-9a-f]{64}, as recorded\).* python\.bin: starts python3 /,
  );
  expect(await hone("rescore", "runs/py", "--trust", "--all")).toMatchObject({ status: 0 });
  expect(existsSync(at("imported"))).toBe(true);
});

native("a run that goes on with a changed file says so", async () => {
  expect((await hone("run", "train.mjs", ...SMALL, "--dir", "small")).status).toBe(0);
  writeFileSync(at("rewards.py"), `${REWARDS}\n# changed\n`);
  // this process has cached the old recipe
  const words = ["run", "train.mjs", ...SMALL, "--set", "training.steps=5", "--dir", "small", "--resume"];
  const { stdout } = spawnSync(process.execPath, [...HONE, ...words], { cwd: folder, encoding: "utf8" });
  writeFileSync(at("rewards.py"), REWARDS);
  expect(stdout).toMatch(
    /the recipe has changed: domains\.digits\.rewards\.digits\.reward\.sha256: "[0-9a-f]{64}" -> "[0-9a-f]{64}"/,
  );
});

/** Python processes that were started from the test's folder. */
function pythons(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isOurs = readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
        return isOurs && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("reward_host.py");
      } catch {
        return false;
      }
    })
    .map(Number);
}

native("kill -9 of the Python process in the middle of a run loses nothing", async () => {
  const args = [
    "run",
    "slow.mjs",
    "--set",
    "training.steps=12",
    "--set",
    "training.groupsPerStep=4",
    "--dir",
    "killed",
    "--overwrite",
  ];
  const run = spawn(process.execPath, [...HONE, ...args], { cwd: folder, stdio: "ignore" });
  const ended = new Promise((resolve) => run.once("exit", resolve));
  const steps = () =>
    existsSync(at("killed/steps.jsonl")) ? readRunLog(at("killed/steps.jsonl")).length : 0;
  const killed = new Set<number>();
  for (const step of [2, 5, 8]) {
    await vi.waitFor(() => expect(steps()).toBeGreaterThanOrEqual(step), { timeout: 120_000, interval: 20 });
    const pids = await vi.waitFor(
      () => {
        const found = pythons();
        expect(found.length).toBeGreaterThan(0);
        return found;
      },
      { timeout: 60_000, interval: 20 },
    );
    for (const pid of pids) {
      process.kill(pid, "SIGKILL");
      killed.add(pid);
    }
  }
  expect(await ended).toBe(0);
  expect(killed.size).toBeGreaterThanOrEqual(3);
  expect(pythons()).toEqual([]);
  const log = readRunLog(at("killed/steps.jsonl"));
  expect(log).toHaveLength(12);
  expect(log.every(({ metrics }) => metrics["verdict/unscored"] === 0)).toBe(true);
  const crashed = log.map(({ metrics }) => metrics["verifier/crashed/reward:digits"] ?? 0);
  // only a process that is judging counts as crashed, and on a busy machine some kills hit idle ones
  expect(crashed.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(1);
});
