// Follows the pages that a newcomer types, with fewer steps: writes their files and runs their commands unchanged.
// Deliberate faults (mutants) that these tests detect: a field does not exist, a reward throws, a command has an
// unknown option, a module has another name.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { honeRecipe, OBJECTIVES } from "../../bench/trl-objectives.mjs";
// @ts-expect-error a script, not a module with types
import { readSteps } from "../../scripts/try-readme.mjs";
import { HONE } from "../fixtures/command-line.ts";
import { long, longest } from "../long.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const work = mkdtempSync(join(root, "build", "typed-"));
afterAll(() => rmSync(work, { recursive: true }));

const noPython = spawnSync("python3", ["--version"]).status !== 0;
const noTransformers = spawnSync("python3", ["-c", "import torch, transformers"]).status !== 0;
const stepsOf = (page: string) =>
  readSteps(readFileSync(join(root, page), "utf8")) as { files: Record<string, string>; typed: string[] };

/** Makes `npx hone` run this checkout. */
beforeAll(() => {
  mkdirSync(join(work, "bin"));
  const command = [process.execPath, ...HONE].map((part) => `'${part}'`).join(" ");
  writeFileSync(join(work, "bin/npx"), `#!/bin/sh\nshift\nexec ${command} "$@"\n`);
  chmodSync(join(work, "bin/npx"), 0o755);
});

/** Shortens a run, and replaces a published model with a small new one. */
const small = (code: string) =>
  code
    .replace(/steps: \d{2,}/, "steps: 6")
    .replace(/groupsPerStep: \d+/, "groupsPerStep: 4")
    .replace(
      /model: \{ folder: "[^"]+" \}/,
      "model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 128 } }",
    )
    .replace(/maxPromptTokens: 512, maxOutputTokens: 512/, "maxPromptTokens: 64, maxOutputTokens: 32");

function writeFiles(folder: string, page: string): void {
  for (const [name, code] of Object.entries(stepsOf(page).files))
    writeFileSync(join(folder, name), small(code));
}

/**
 * Runs a page's command blocks and returns what they print. Each must exit with one of `statuses`; 4 is allowed where
 * random weights may give no group whose rewards differ.
 */
function type(folder: string, page: string, statuses: readonly number[] = [0]): string {
  const env = { ...process.env, PATH: `${join(work, "bin")}:${process.env["PATH"]}` };
  const texts = stepsOf(page).typed.map((block) => {
    const options = { cwd: folder, env, encoding: "utf8" } as const;
    const { status, stdout, stderr } = spawnSync("bash", ["-eo", "pipefail", "-c", block], options);
    expect(statuses, `${block}\n${stdout}\n${stderr}`).toContain(status);
    return `${stdout}${stderr}`;
  });
  expect(texts).not.toHaveLength(0);
  return texts.join("\n");
}

const folderOf = (name: string) => {
  const folder = join(work, name);
  mkdirSync(folder, { recursive: true });
  return folder;
};

test("the tutorial, from rows to an exported model", () => {
  const folder = folderOf("tutorial");
  const page = "docs/tutorial/first-model.md";
  writeFiles(folder, page);
  const text = type(folder, page);
  expect(text).toMatch(/486 to train on, 49 held out/);
  expect(text).toMatch(/sorted\s+90 /);
  const config = JSON.parse(readFileSync(join(folder, "models/sorting/config.json"), "utf8"));
  expect(config.hidden_size).toBe(64);
}, 300_000);

test.skipIf(noTransformers)(
  "transformers loads what the tutorial exported",
  () => {
    const folder = folderOf("tutorial");
    const { status, stdout, stderr } = spawnSync("python3", ["load.py"], { cwd: folder, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout).toContain("3142");
  },
  120_000,
);

// .ci/run runs both pages from the packed package (scripts/try-readme.mjs).
test.runIf(longest)(
  "the README, and the program that drives its recipe",
  () => {
    const folder = folderOf("readme");
    for (const page of ["README.md", "docs/how-to/from-a-program.md"]) writeFiles(folder, page);
    writeFileSync(
      join(folder, "loop.mjs"),
      readFileSync(join(folder, "loop.mjs"), "utf8").replace("training.steps=20", "training.steps=3"),
    );
    type(folder, "README.md");
    expect(type(folder, "docs/how-to/from-a-program.md").trim().split("\n")).toHaveLength(3);
  },
  300_000,
);

test.skipIf(!long || noPython)(
  "the recipe for those who come from TRL",
  () => {
    const folder = folderOf("trl");
    writeFiles(folder, "docs/how-to/from-trl.md");
    const rows = Array.from({ length: 40 }, (_, n) =>
      JSON.stringify({ prompt: `${n}+1`, solution: `${n + 1}` }),
    );
    writeFileSync(join(folder, "math.jsonl"), rows.join("\n"));
    expect(type(folder, "docs/how-to/from-trl.md", [0, 4]).replaceAll(/\s+/g, " ")).toMatch(
      /accuracy_reward\(completions, solution, \*\*kwargs\) of rewards\.py, called as TRL does/,
    );
  },
  120_000,
);

test.skipIf(!long || noPython)(
  "the recipe for those who come from verl",
  () => {
    const folder = folderOf("verl");
    const page = "docs/how-to/from-verl.md";
    writeFiles(folder, page);
    mkdirSync(join(folder, "data/gsm8k"), { recursive: true });
    const rows = Array.from({ length: 40 }, (_, n) => ({
      data_source: "openai/gsm8k",
      prompt: [{ role: "user", content: `${n}?` }],
      reward_model: { style: "rule", ground_truth: `${n}` },
      extra_info: { index: n },
    }));
    writeFileSync(join(folder, "data/gsm8k/train.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
    const recipe = readFileSync(join(folder, "recipe.mjs"), "utf8");
    writeFileSync(join(folder, "recipe.mjs"), recipe.replace("train.parquet", "train.jsonl"));
    expect(type(folder, page, [0, 4]).replaceAll(/\s+/g, " ")).toMatch(
      /compute_score\(.*\) of reward\.py, called as verl does/,
    );
  },
  120_000,
);

test.each([
  ["TRL's example", "docs/how-to/from-trl.md"],
  ["verl's example", "docs/how-to/from-verl.md"],
])("what is measured as %s beside TRL is the recipe of its page", (name, page) => {
  const [, fields] = /defineRecipe\((\{[\s\S]*?\n\})\);/.exec(stepsOf(page).files["recipe.mjs"]!)!;
  const recipe = runInNewContext(`(${fields})`);
  const { lr: _, ...measured } = honeRecipe(OBJECTIVES[name], {}, 20, 0).optimizer;
  const { lr: __, ...written } = recipe.optimizer;
  const { advantages, objective, rollouts, training } = honeRecipe(OBJECTIVES[name], {}, 20, 0);
  expect(measured).toEqual({ ...written });
  expect(objective).toEqual({ ...recipe.objective });
  expect(advantages).toEqual({ ...recipe.advantages });
  expect([rollouts.groupSize, training.schedule]).toEqual([
    recipe.rollouts.groupSize,
    recipe.training.schedule,
  ]);
  const { updatesPerBatch = 1, epochs = 1 } = recipe.training;
  expect([training.updatesPerBatch, training.epochs]).toEqual([updatesPerBatch, epochs]);
});
