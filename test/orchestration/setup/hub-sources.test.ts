import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkDataset, datasetsOf } from "../../../lib/cli/data-check.ts";
import {
  isHubSource,
  isPathAlone,
  localPaths,
  localSource,
  localSpec,
} from "../../../lib/orchestration/setup/hub-sources.ts";
import { openProblems } from "../../../lib/orchestration/setup/problems.ts";
import { honeHere } from "../../fixtures/hone-here.ts";
import { StandInHub } from "../../fixtures/hub-server.ts";
import { patient } from "../../patience.ts";
import { smallRecipe } from "../small-recipe.ts";

// Deliberate faults (mutants) that these tests detect: the kind of rows is not reported, commits are not recorded,
// another name's pinned commit is used.

const rows = (from: number) =>
  Array.from({ length: 30 }, (_, i) =>
    JSON.stringify({ question: `What is ${from + i}?`, answer: `It is.\n#### ${from + i}` }),
  ).join("\n");
const FILES = { "main/train.jsonl": rows(0), "main/test.jsonl": rows(100), "README.md": "" };

let dir: string;
let hub: StandInHub;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-hub-sources-"));
  hub = new StandInHub(FILES);
  const variables = { HF_HOME: dir, HF_ENDPOINT: await hub.listen(), HF_TOKEN: "" };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  vi.unstubAllEnvs(); // process.env itself remains, because other files of this worker use it
  rmSync(dir, { recursive: true, force: true });
});

test("a source is one of the Hub by its name or its path", () => {
  expect(
    ["hf:a/b", "taco:hf:a/b", "taco:data/taco", "procedural/math", "./mine.ts"].map(isHubSource),
  ).toEqual([true, true, false, false, false]);
  expect(isHubSource({ kind: "jsonl", path: ["x.jsonl", "hf:a/b"] })).toBe(true);
});

test("a source that is a path alone is known by its ending", () => {
  expect(["hf:a/b", "mine.jsonl", "/data/a.parquet", "./b.csv.gz"].map(isPathAlone)).toEqual(
    Array(4).fill(true),
  );
  expect(["jsonl:mine.jsonl", "procedural/math", "./mine.ts", "mine"].map(isPathAlone)).toEqual(
    Array(4).fill(false),
  );
});

test("a file alone is of the kind that its rows are of, and one that is not there is named", async () => {
  const file = join(dir, "mine.jsonl");
  writeFileSync(file, '{"prompt": "1 + 1?"}\n{"prompt": "2 + 2?"}\n');
  const use = { domain: "sums", needsReference: false };
  expect((await localSource(file, use)).source).toMatchObject({
    kind: "jsonl",
    domain: "sums",
    path: [file],
  });
  await expect(localSource(join(dir, "gone.jsonl"), use)).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringContaining("gone.jsonl"),
  });
});

test("paths keep their places, and a split of the source is that of the name", async () => {
  const { paths, hub: from } = await localPaths(["here.jsonl", "hf:org/tiny"], "test");
  expect(paths).toEqual(["here.jsonl", expect.stringMatching(/main\/test\.jsonl$/)]);
  expect(from).toEqual([{ name: "hf:org/tiny:test", commit: hub.commit }]);
  const { source } = await localSpec({ kind: "jsonl", path: "hf:org/tiny:train", split: "test" });
  expect(source.path).toEqual([expect.stringMatching(/main\/train\.jsonl$/)]);
});

test("a name alone is of the kind that its rows are of, in its domain", async () => {
  expect((await localSource("hf:org/tiny", { domain: "math" })).source).toMatchObject({
    kind: "jsonl",
    domain: "math",
  });
  // GSM8K's rows train like a user's own rows; as a validation set they may be a benchmark
  const { source } = await localSource("hf:org/tiny", { domain: "poems", needsReference: false });
  expect(source).toMatchObject({ kind: "jsonl", domain: "poems", needsReference: false });
});

test("a run reads the commit it began with, whatever the revision stands for by then", async () => {
  const recipe = smallRecipe({}, { domains: { math: { weight: 1, source: "hf:org/tiny" } } });
  const began = (await openProblems(recipe)).sources.get("math")!;
  const origin = [{ name: "hf:org/tiny", commit: hub.commit }];
  expect(began.report).toMatchObject({ rows: 30, kind: "jsonl", hub: origin });
  const first = hub.commit;
  hub.commit = "e".repeat(40);
  hub.files.set("main/train.jsonl", Buffer.from(rows(1000)));
  try {
    const now = (await openProblems(recipe)).sources.get("math")!;
    expect(now.problem(0).question).not.toBe(began.problem(0).question);
    process.env["HF_HUB_OFFLINE"] = "1";
    const again = (await openProblems(recipe, { commits: new Map([["math", origin]]) })).sources.get("math")!;
    for (let i = 0; i < 27; i++) expect(again.problem(i)).toEqual(began.problem(i));
  } finally {
    delete process.env["HF_HUB_OFFLINE"];
    hub.commit = first;
    hub.files.set("main/train.jsonl", Buffer.from(rows(0)));
  }
});

test(
  "hone data check reads it by name, alone and in a recipe",
  async () => {
    const check = await checkDataset(
      "tiny",
      { kind: "jsonl", path: "hf:org/tiny", verifier: "math" },
      { workers: 1 },
    );
    expect(check).toMatchObject({
      report: { rows: 30, hub: [{ name: "hf:org/tiny" }] },
      gold: { accepted: 30 },
    });
    const recipe = smallRecipe({}, { domains: { math: { weight: 1, source: "hf:org/tiny:test" } } });
    expect([...(await datasetsOf(recipe))]).toMatchObject([["math", { kind: "jsonl", domain: "math" }]]);
    const { status, stdout } = await honeHere(["data", "check", "hf:org/tiny", "--no-gold"]);
    expect([status, stdout]).toEqual([0, expect.stringContaining("30 rows")]);
  },
  patient(60_000),
);

test(
  "a run trains on it, and its record says which commit",
  async () => {
    const script = join(dir, "tiny.mjs");
    const recipe = {
      name: "tiny",
      model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 256 } },
      domains: { math: { weight: 1, source: "hf:org/tiny", reward: "verifier" } },
      rollouts: { groupSize: 2, maxOutputTokens: 8, maxPromptTokens: 64 },
      lengthPenalty: { kind: "none" },
      training: { steps: 1, groupsPerStep: 1 },
      evaluation: { problemsPerDomain: 2 },
    };
    writeFileSync(script, `export default ${JSON.stringify(recipe)};`);
    const check = await honeHere(["check", script]);
    expect([check.status, check.stdout]).toEqual([0, expect.stringContaining("30 rows: ")]);
  },
  patient(60_000),
);
