// Mistakes of a first day, through the command: each message says what is wrong, where, and what to do.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { honeHere } from "../fixtures/hone-here.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-messages-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const RECIPE = {
  name: "m",
  model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 64 } },
  domains: { math: { weight: 1, source: "procedural/math" } },
  rollouts: { maxOutputTokens: 16, maxPromptTokens: 64 },
  training: { steps: 2, groupsPerStep: 4 },
};
const recipe = (name: string, changes: object = {}): string => {
  const path = join(dir, `${name}.mjs`);
  writeFileSync(path, `export default ${JSON.stringify({ ...RECIPE, ...changes })};`);
  return path;
};

const none = join(dir, "runs", "nope");
test.each<[string, readonly string[], number, readonly string[]]>([
  [
    "a verb that is none",
    ["frobnicate"],
    2,
    ["unknown command 'frobnicate'", "`hone --help` lists the commands"],
  ],
  [
    "two bad --set",
    ["check", recipe("set"), "--set", "traning.steps=3", "--set", "optimzer.lr=2", "--set", "x"],
    2,
    ["--set: 3 problem(s)", "did you mean training?", "did you mean optimizer?", "x: expected path=value"],
  ],
  [
    "a run that is not there",
    ["samples", none],
    3,
    [`${none}: no run lies here`, "Name the folder that was --dir"],
  ],
  [
    "a GPU by another name",
    ["run", recipe("gpu"), "--device", "gpu"],
    2,
    ["known: cpu, cuda", 'A GPU is "cuda"'],
  ],
  [
    "a model folder that is not there",
    ["generate", "--model", "absent/nothing", "--prompt", "hi"],
    3,
    [`there is no folder ${resolve("absent/nothing")}; tried as a model of the Hub`],
  ],
  [
    "a model that is neither a folder nor a name",
    ["generate", "--model", "./nowhere", "--prompt", "hi"],
    3,
    [`there is no folder ${resolve("nowhere")}, and ./nowhere is no name`, "config.json and safetensors"],
  ],
])("%s", async (_, args, status, parts) => {
  const said = await honeHere(args, { HF_ENDPOINT: "http://127.0.0.1:9", HF_HUB_CACHE: dir });
  for (const part of parts) expect(said.stderr).toContain(part);
  expect(said.status).toBe(status);
});
