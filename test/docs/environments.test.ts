// Follows the Python part of docs/how-to/environments.md as a user does. Deliberate faults (mutants) that these tests
// detect: the hash is not recorded, an episode asks another process, a replay starts Python, a fault scores 0.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test, vi } from "vitest";
import { readRunLog } from "../../lib/metrics/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { HONE } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { long } from "../long.ts";

vi.setConfig({ testTimeout: 240_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "docs/how-to/environments.md"), "utf8");
const folder = mkdtempSync(join(root, "build", "environments-"));
afterAll(() => rmSync(folder, { recursive: true }));
const native = test.skipIf(noAddon !== undefined);

for (const [, name, code] of page.matchAll(/```(?:py|js) file=(\S+)\n([\s\S]*?)```/g))
  writeFileSync(join(folder, name!), code!);
const rows = Array.from({ length: 200 }, (_, n) =>
  JSON.stringify({ prompt: `n ${n}`, reference: `${n % 10}` }),
);
writeFileSync(join(folder, "numbers.jsonl"), `${rows.join("\n")}\n`);
const source = readFileSync(join(folder, "env.py"), "utf8");
const MARK = 'open(__file__ + ".imported", "w").close()\n';
const imported = join(folder, "env.py.imported");

async function hone(...args: readonly string[]) {
  const { status, stdout, stderr } = await honeHere(args, {}, folder);
  return { status, said: `${stdout}\n${stderr}`.replace(/\s+/g, " ") };
}
/** Runs in another process: this process caches the recipe with the hash that env.py had at its first load. */
function honeApart(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...HONE, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, said: `${stdout}\n${stderr}`.replace(/\s+/g, " ") };
}
const FEW = ["--set", "evaluation.problemsPerDomain=2"];

native("hone check plays it once, and says what was asked of which Python", async () => {
  expect(source.trim().split("\n").length).toBeLessThanOrEqual(20);
  const { status, said } = await hone("check", "guess.mjs");
  expect([status, said]).toEqual([0, expect.any(String)]);
  expect(said).toMatch(
    /judged by environment:guess environment: Env\.step\(action\) of env\.py, Python 3\.\d+\.\d+ at \S+; to two empty messages it gave 0 /,
  );
});

test.skipIf(noAddon !== undefined || !long)(
  "the run learns, its record has the file's hash, and its replay is the same to the bit without Python",
  async () => {
    writeFileSync(join(folder, "env.py"), `${MARK}${source}`);
    const { status, said } = honeApart("run", "guess.mjs", ...FEW);
    expect([status, said]).toEqual([0, expect.any(String)]);
    const metrics = readRunLog(join(folder, "runs/guess/steps.jsonl")).map((step) => step.metrics);
    const mean = (from: number, to: number) =>
      metrics.slice(from, to).reduce((sum, one) => sum + (one["reward/mean"] ?? 0), 0) / (to - from);
    expect(mean(0, 5)).toBeLessThan(0.15);
    expect(mean(55, 60)).toBeGreaterThan(0.4);
    expect(metrics.every((one) => one["verdict/unscored"] === 0)).toBe(true);
    expect(Math.max(...metrics.map((one) => one["versions/max"] ?? 0))).toBeGreaterThan(1);
    const { config } = JSON.parse(readFileSync(join(folder, "runs/guess/run.json"), "utf8"));
    const sha256 = spawnSync("sha256sum", [join(folder, "env.py")], { encoding: "utf8" }).stdout.slice(0, 64);
    expect(config.domains.guess.environment).toEqual({ python: "env.py#Env", sha256 });
    rmSync(imported);
    expect(await hone("replay", "runs/guess")).toMatchObject({ status: 0 });
    expect(await hone("rescore", "runs/guess")).toMatchObject({ status: 0 });
    expect(existsSync(imported)).toBe(false);
  },
);

native("an environment that fails leaves its episodes unscored, and a changed file is told", async () => {
  const small = ["--set", "training.steps=2", "--set", "training.groupsPerStep=2", ...FEW];
  expect((await hone("run", "guess.mjs", ...small, "--dir", "small")).status).toBe(0);
  const failing = source.replace(
    "guess = int(action)",
    'if action == "7": raise ValueError("seven")\n        guess = int(action)',
  );
  writeFileSync(join(folder, "env.py"), failing);
  const more = ["--set", "training.steps=12", "--set", "training.groupsPerStep=8", ...FEW];
  const { status, said } = honeApart("run", "guess.mjs", ...small, ...more, "--dir", "small", "--resume");
  expect([status, said]).toEqual([0, expect.any(String)]);
  expect(said).toMatch(/domains\.guess\.environment\.sha256: "[0-9a-f]{64}" -> "[0-9a-f]{64}"/);
  expect(said).toContain("env.py: ValueError: seven");
  const log = readRunLog(join(folder, "small/steps.jsonl")).slice(2);
  expect(log.reduce((sum, { metrics }) => sum + metrics["verdict/unscored"]!, 0)).toBeGreaterThan(0);
  const verdicts = readFileSync(join(folder, "small/verdicts.jsonl"), "utf8");
  expect(verdicts).toMatch(
    /"unscored","cause":"the environment: ValueError: seven \(env\.py:\d+, in step\)"/,
  );
});
