// Runs the commands on a recipe in YAML from the folder above it. It trains the same weights as a script with the same
// fields, to the bit, and its record, resume, replay and sweeps work like a script's.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HONE } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { noAddon } from "./native-core.ts";

vi.setConfig({ testTimeout: 240_000 });

const folder = mkdtempSync(join(fileURLToPath(new URL("../../", import.meta.url)), "build", "data-recipe-"));
const at = (...names: string[]) => join(folder, ...names);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const YAML = `# yaml-language-server: $schema=../node_modules/hone-rl/recipes/recipe.schema.json
device: cpu
model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 16 } }
domains:
  digits: { source: jsonl:rows.jsonl, reward: { python: rewards.py#digits } }
rollouts: { groupSize: 4, maxOutputTokens: 6, maxPromptTokens: 8 }
optimizer: { lr: 1e-3 }
training: { steps: 4, groupsPerStep: 4, schedule: sync }
checkpoint: { everySteps: 2 }
evaluation: { problemsPerDomain: 4 }
`;
const SCRIPT = `export default {
  device: "cpu",
  model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 16 } },
  domains: { digits: { source: "jsonl:there/rows.jsonl", reward: { python: "there/rewards.py#digits" } } },
  rollouts: { groupSize: 4, maxOutputTokens: 6, maxPromptTokens: 8 },
  optimizer: { lr: 0.001 },
  training: { steps: 4, groupsPerStep: 4, schedule: "sync" },
  checkpoint: { everySteps: 2 },
  evaluation: { problemsPerDomain: 4 },
};
`;

beforeAll(() => {
  mkdirSync(at("there"));
  const rows = Array.from({ length: 200 }, (_, n) => JSON.stringify({ prompt: String(n) }));
  writeFileSync(at("there/rows.jsonl"), `${rows.join("\n")}\n`);
  const reward =
    "def digits(completions, **kwargs):\n    return [sum(c.isdigit() for c in one) / 6 for one in completions]\n";
  writeFileSync(at("there/rewards.py"), reward);
  writeFileSync(at("there/train.yaml"), YAML);
  writeFileSync(at("train.mjs"), SCRIPT);
});

async function hone(...args: string[]) {
  const { status, stdout, stderr } = await honeHere(args, {}, folder);
  return { status, stdout, said: `${stdout}\n${stderr}`.replace(/\s+/g, " ") };
}
const config = (dir: string) => JSON.parse(readFileSync(at(dir, "run.json"), "utf8")).config;
const weights = (dir: string, step: number) =>
  readFileSync(at(dir, "checkpoints", `step-00000${step}`, "model.safetensors"));
const native = test.skipIf(noAddon !== undefined);

native(
  "a recipe in YAML trains what a script of the same fields does, and goes on, and is replayed",
  async () => {
    expect(await hone("run", "train.mjs", "--dir", "runs/script")).toMatchObject({ status: 0 });
    expect(await hone("run", "there/train.yaml", "--dir", "runs/yaml")).toMatchObject({ status: 0 });
    const resumed = await hone(
      "run",
      "there/train.yaml",
      "--dir",
      "runs/yaml",
      "--resume",
      "runs/yaml/checkpoints/step-000002",
    );
    expect([resumed.status, resumed.said]).toEqual([0, expect.stringContaining("step=3")]);
    expect(config("runs/yaml")).toEqual(config("runs/script"));
    expect(weights("runs/yaml", 4).equals(weights("runs/script", 4))).toBe(true);
    expect(await hone("replay", "runs/yaml", "--recipe", "there/train.yaml")).toMatchObject({ status: 0 });
    expect(await hone("rescore", "runs/yaml", "--recipe", "there/train.yaml")).toMatchObject({ status: 0 });
  },
);

native("the other commands that take a recipe take one in YAML", async () => {
  expect(await hone("check", "there/train.yaml")).toMatchObject({
    status: 0,
    said: expect.stringMatching(/digits of \S+\/there\/rewards\.py in a process of python3/) as string,
  });
  expect(await hone("plan", "there/train.yaml")).toMatchObject({ status: 0 });
  expect(await hone("data", "count", "there/train.yaml")).toMatchObject({ status: 0 });
  const { stdout } = await hone(
    "sweep",
    "there/train.yaml",
    "--grid",
    "optimizer.lr=1e-3|1e-4",
    "--list",
    "--json",
  );
  expect(JSON.parse(stdout).cells).toHaveLength(2);
  // a sweep starts processes of its own command
  const words = [
    "sweep",
    "there/train.yaml",
    "--seeds",
    "1",
    "--dir",
    "runs/sweep",
    "--set",
    "training.steps=1",
  ];
  const sweep = spawnSync(process.execPath, [...HONE, ...words], { cwd: folder, encoding: "utf8" });
  expect([sweep.status, `${sweep.stdout}${sweep.stderr}`]).toEqual([0, expect.any(String)]);
});

test("what is wrong in YAML is told with its line, by the code of a wrong recipe", async () => {
  writeFileSync(at("wrong.yaml"), YAML.replace("lr: 1e-3", "lr: '1e-3'").replace("steps: 4", "steps: 010"));
  expect(await hone("check", "wrong.yaml")).toMatchObject({
    status: 2,
    said: expect.stringMatching(
      /HONE_ERR_CONFIG .*wrong\.yaml: 1 problem.*line 8, column 20: has 010/,
    ) as string,
  });
  writeFileSync(at("wrong.yaml"), YAML.replace("lr: 1e-3", "lr: '1e-3'"));
  expect((await hone("run", "wrong.yaml")).said).toMatch(
    /optimizer\.lr, line 7, column 18: is "1e-3"; expected a number/,
  );
  expect((await hone("run", "missing.yaml")).said).toMatch(/there is no recipe at \S+missing\.yaml/);
});
