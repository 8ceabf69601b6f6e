// Tests rows that a recipe's map makes, in a run, its resume and its replay, through the commands.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { HONE, isDistFresh, ROOT } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-mapped-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const native = test.skipIf(noAddon !== undefined);

const FRONT = pathToFileURL(join(ROOT, isDistFresh ? "dist/lib/index.js" : "lib/index.ts")).href;
/** A row in Countdown's format; every eleventh has no question, and line 30 makes the map throw. */
const rows = Array.from({ length: 60 }, (_, i) =>
  i === 29 ? { target: i } : { target: i, nums: i % 11 === 0 ? [] : [i, 1] },
);
writeFileSync(join(folder, "rows.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));

const script = (name: string, map: string, more = "") =>
  writeFileSync(
    join(folder, name),
    `import { defineRecipe } from ${JSON.stringify(FRONT)};
${more}
export default defineRecipe({
  name: "mapped", seed: 1,
  model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 256 } },
  domains: { sums: { weight: 1, source: { kind: "jsonl", path: "rows.jsonl", map: ${map} }, reward: ({ answer, reference }) => (answer.length + reference.target) / 1000 } },
  rollouts: { groupSize: 2, maxOutputTokens: 12, maxPromptTokens: 64 },
  lengthPenalty: { kind: "none" }, training: { steps: 1, groupsPerStep: 1, schedule: "sync" },
  evaluation: { problemsPerDomain: 2 }, checkpoint: { everySteps: 1 },
});
`,
  );
const MAP = `({ target, nums }) => nums.length === 0 ? null : { prompt: \`Make \${target} of \${nums.join(", ")}\`, reference: { target, nums } }`;

async function hone(...args: string[]): Promise<{ status: number; said: string }> {
  const { status, stdout, stderr } = await honeHere(args, {}, folder);
  return { status, said: `${stdout}\n${stderr}` };
}
const record = (dir: string) =>
  JSON.parse(readFileSync(join(folder, dir, "run.json"), "utf8")) as {
    config: { domains: { sums: { source: { map: object } } } };
    data: { sums: object };
    modules: Record<string, string>;
  };

native(
  "a function of the script makes the rows of a run, of its continuation and of its replay",
  async () => {
    script("own.ts", MAP);
    const check = await hone("data", "check", "own.ts");
    expect(check).toMatchObject({ status: 0, said: expect.stringContaining("question of 53 rows: prompt") });
    expect(check.said).toMatch(/1 × map: threw TypeError: .*, at rows\.jsonl:30/);
    expect(check.said).toMatch(/6 × map: returned null, at rows\.jsonl:1, /);
    expect(await hone("run", "own.ts", "--dir", "a")).toMatchObject({ status: 0 });
    expect(record("a").config.domains.sums.source.map).toEqual({
      function: "map",
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(record("a").data.sums).toMatchObject({
      rows: 60,
      leftOut: [{ reason: "map: returned null", rows: 6 }],
    });
    const resumed = await hone("run", "own.ts", "--dir", "a", "--resume", "--set", "training.steps=2");
    expect(resumed).toMatchObject({ status: 0 });
    expect(await hone("replay", "a", "--recipe", "own.ts")).toMatchObject({ status: 0 });
    expect(await hone("replay", "a", "--trust")).toMatchObject({
      status: 2,
      said: expect.stringContaining("map: the function map is not available in this process, only its name"),
    });
    script("other.ts", MAP.replace("Make", "Form"));
    expect(await hone("replay", "a", "--recipe", "other.ts")).toMatchObject({
      status: 2,
      said: expect.stringContaining("sums.source.map: has hash"),
    });
  },
  patient(180_000),
);

native(
  "a module does too, and is refused when it has changed",
  async () => {
    writeFileSync(join(folder, "rows.mjs"), `export const toRow = ${MAP};`);
    script("module.ts", '"./rows.mjs#toRow"');
    expect(await hone("run", "module.ts", "--dir", "b")).toMatchObject({ status: 0 });
    expect(Object.keys(record("b").modules)).toEqual([join(folder, "rows.mjs")]);
    expect(await hone("replay", "b")).toMatchObject({
      status: 2,
      said: expect.stringContaining("domains.sums.source.map: runs"),
    });
    expect(await hone("replay", "b", "--trust")).toMatchObject({ status: 0 });
    writeFileSync(join(folder, "rows.mjs"), `export const toRow = ${MAP}; // changed`);
    // this process has cached the old module
    const words = [...HONE, "replay", "b", "--trust"];
    const changed = spawnSync(process.execPath, words, { encoding: "utf8", cwd: folder });
    expect([changed.status, changed.stderr]).toEqual([2, expect.stringContaining("rows.mjs has hash")]);
    const data = await hone(
      "data",
      "check",
      "rows.jsonl",
      "--map",
      "./rows.mjs#toRow",
      "--verifier",
      "logic",
    );
    expect(data.said).toMatch(/none of the 20 rows|53 rows|left out/);
    expect(await hone("data", "check", "rows.jsonl", "--map", "./none.mjs")).toMatchObject({
      status: 2,
      said: expect.stringContaining("there is no module at ./none.mjs"),
    });
  },
  patient(180_000),
);

native(
  "problems of a data set are counted by their rows, over passes and a continuation",
  async () => {
    script("passes.ts", MAP);
    const sizes = ["--set", "training.groupsPerStep=4", "--set", "checkpoint.everySteps=20"];
    const steps = (n: number) => ["--set", `training.steps=${n}`];
    expect(await hone("run", "passes.ts", "--dir", "p", ...sizes, ...steps(20))).toMatchObject({ status: 0 });
    expect(await hone("run", "passes.ts", "--dir", "p", "--resume", ...sizes, ...steps(30))).toMatchObject({
      status: 0,
    });
    const { said: asked } = await hone("samples", "p", "--problems", "--json", "--limit", "500");
    const { total, problems } = JSON.parse(asked) as {
      total: number;
      problems: { groups: number; row: string; begins: string }[];
    };
    const lines = readFileSync(join(folder, "p", "verdicts.jsonl"), "utf8")
      .trimEnd()
      .split("\n");
    const taken = lines
      .map((line) => JSON.parse(line) as { members?: object; of: string; problem?: string; prompt?: string })
      .filter(({ members }) => members !== undefined);
    expect(taken).toHaveLength(120); // though the files have only some fifty rows
    expect(new Set(problems.map(({ row }) => row)).size).toBe(total);
    expect(total).toBeLessThanOrEqual(53);
    expect(problems.reduce((sum, { groups }) => sum + groups, 0)).toBe(120);
    for (const { row, begins } of problems) {
      const number = Number(/rows\.jsonl:(\d+)$/.exec(row)![1]) - 1;
      expect(begins).toBe(`Make ${number} of ${number}, 1`);
    }
  },
  patient(120_000),
);
