// Mistakes of new users: each message of the command says what is wrong, where, and what to do.
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

function rowsFile(): string {
  const path = join(dir, "rows.jsonl");
  const rows = [
    '{"prompt":"1+1=","answer":"2"}',
    '{"prompt":"1+2=","answer":"3"}',
    "none",
    '{"prompt":"","answer":"3"}',
  ];
  writeFileSync(path, rows.join("\n"));
  return path;
}

const none = join(dir, "runs", "nope");
test.each<[string, readonly string[], number, readonly string[], (readonly string[])?]>([
  [
    "a verb that is none",
    ["frobnicate"],
    2,
    ["unknown command 'frobnicate'", "`hone --help` lists the commands"],
  ],
  [
    "a verb of other programs",
    ["resume", "r1"],
    2,
    ["resume is here: hone run <recipe> --dir <run> --resume"],
  ],
  [
    "a model as an argument",
    ["eval", "runs/mine"],
    2,
    ["usage: hone eval --model <model>", "did you mean: hone eval --model runs/mine"],
  ],
  [
    "one argument of two",
    ["diff", "runs/a"],
    2,
    ["missing required argument 'b'", "usage: hone diff [options] <a> <b>", "all options: hone diff --help"],
  ],
  [
    "a field without its section",
    ["check", recipe("section"), "--set", "lr=2", "--set", "groupSize=4"],
    2,
    [
      "lr: is not a field of a recipe (did you mean optimizer.lr or warmStart.lr?)",
      "did you mean rollouts.groupSize?",
    ],
  ],
  [
    "a recipe by another name",
    ["run", join(dir, "quikc.mjs")],
    2,
    [`there is no recipe at ${join(dir, "quikc.mjs")}`, "In that folder: "],
  ],
  [
    "rows of which half are no rows",
    ["check", recipe("rows", { domains: { math: { source: rowsFile() } } })],
    0,
    [],
    [
      "warning: math: 2 of 4 rows cannot be used (not JSON: 1, first rows.jsonl:3); `hone",
      "data check` lists them",
    ],
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
    [`${none}: not a run folder`, "Give the folder that a run wrote"],
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
    [
      `there is no folder ${resolve("nowhere")}, and ./nowhere is not the name`,
      "config.json and safetensors",
    ],
  ],
])("%s", async (_, args, status, parts, printed = []) => {
  const said = await honeHere(args, { HF_ENDPOINT: "http://127.0.0.1:9", HF_HUB_CACHE: dir });
  for (const part of parts) expect(said.stderr).toContain(part);
  for (const part of printed) expect(said.stdout.replaceAll(/\s+/g, " ")).toContain(part);
  expect(said.status).toBe(status);
});
