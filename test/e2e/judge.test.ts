// Runs the commands with a language model as the judge, against a real server.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readRunLog } from "../../lib/metrics/index.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { JudgeServer } from "../fixtures/judge-server.ts";

vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(fileURLToPath(new URL("../../", import.meta.url)), "build", "judge-"));
/** Grades an answer by its number of letters "e", and one time in three a point lower. */
const server = new JudgeServer(({ key, quoted, seed }) => {
  const share = quoted["ANSWER"]!.split("e").length - 1;
  return `VERDICT ${key}: ${Math.max(0, Math.min(10, share) - (seed % 3 === 1 ? 1 : 0))}`;
});

beforeAll(async () => {
  writeFileSync(
    join(folder, "rows.jsonl"),
    Array.from({ length: 40 }, (_, i) => `{"question":"${i}","reference":"e"}\n`).join(""),
  );
  const url = `${await server.listen()}/v1`;
  writeFileSync(
    join(folder, "train.mjs"),
    `import { defineRecipe } from "hone-rl";
export default defineRecipe({
  name: "judged",
  model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 64, maxPositions: 16 } },
  domains: { words: { weight: 1, source: "jsonl:rows.jsonl", rewards: {
    kind: { weight: 3, reward: { judge: { url: "${url}", model: "j", apiKeyEnv: "HONE_TEST_KEY", retries: 1, backoffMs: 5, budget: { calls: 100000 } } } },
    brief: { weight: 1, reward: ({ completion }) => 1 / (1 + completion.length) },
  } } },
  rollouts: { groupSize: 4, maxOutputTokens: 6, maxPromptTokens: 8, stopIds: Array.from({ length: 80 }, (_, i) => i + 2) },
  lengthPenalty: { kind: "none" },
  training: { steps: 3, groupsPerStep: 4 },
  evaluation: { problemsPerDomain: 2 },
});
`,
  );
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function hone(args: readonly string[], key = "sk-secret") {
  const { status, stdout, stderr } = await honeHere(args, { HONE_TEST_KEY: key }, folder);
  return { status, output: `${stdout}${stderr}` };
}

test("a missing key is told before anything runs", async () => {
  const { status, output } = await hone(["run", "train.mjs"], "");
  expect([status, output]).toEqual([
    2,
    expect.stringContaining("HONE_TEST_KEY is not set in the environment"),
  ]);
  expect(existsSync(join(folder, "runs"))).toBe(false);
});

test("hone check says which model judges, where", async () => {
  const { status, output } = await hone(["check", "train.mjs"]);
  expect(output.replace(/\s+/g, " ")).toMatch(
    /reward kind, weight 3: j at http:\/\/127\.0\.0\.1:\d+\/v1 judges \(rubric, 2 samplings\) reward brief, weight 1: function brief|reward kind, weight 3: j at http:\/\/127\.0\.0\.1:\d+\/v1 judges \(rubric, 2 samplings\) reward brief, weight 1: function reward in the main process/,
  );
  expect(status).toBe(0);
});

test("a run is judged, its metrics tell parts, cost and disagreement, and the key is in no file", async () => {
  const { status, output } = await hone(["run", "train.mjs"]);
  expect([status, output]).toEqual([expect.toBeOneOf([0, 4]), expect.any(String)]);
  const { metrics } = readRunLog(join(folder, "runs/judged/steps.jsonl")).at(-1)!;
  expect(metrics["verdict/unscored"]).toBe(0);
  for (const name of ["reward/part/words/kind", "reward/part/words/brief", "judge/calls/part:words:kind"])
    expect(metrics[name], name).toBeGreaterThanOrEqual(0);
  expect(metrics["judge/budget-left/part:words:kind"]).toBeLessThan(1);
  expect(server.questions.length).toBeGreaterThan(0);
  expect(new Set(server.questions.map(({ authorization }) => authorization))).toEqual(
    new Set(["Bearer sk-secret"]),
  );
  for (const file of ["run.json", "events.jsonl", "verdicts.jsonl", "steps.jsonl"])
    expect(readFileSync(join(folder, "runs/judged", file), "utf8")).not.toContain("sk-secret");
});

test("rescoring asks nothing that was asked before", async () => {
  const before = server.questions.length;
  const { status, output } = await hone(["rescore", "runs/judged", "--recipe", "train.mjs", "--json"]);
  expect(status).toBe(0);
  expect(JSON.parse(output.slice(output.indexOf("{"))).domains[0]).toMatchObject({
    changed: 0,
    unscoredAfter: 0,
  });
  expect(server.questions.length).toBe(before);
});

test("an outage ends the run with what the server says, and nothing of it is scored", async () => {
  server.script = (_, response) => void response.writeHead(503).end("back soon");
  const more = ["--dir", "runs/out", "--set", "seed=5", "--set", "training.steps=40"];
  const { status, output } = await hone(["run", "train.mjs", ...more]);
  expect(output).not.toContain("MaxListenersExceededWarning");
  expect(output).toContain("verifier reward:words has given no verdict on the last 48 completions");
  expect(output).toContain("reward kind: the judge: the server says 503: back soon");
  expect(status).toBe(4);
  const lines = readFileSync(join(folder, "runs/out/verdicts.jsonl"), "utf8").trim().split("\n");
  const verdicts = lines.flatMap((line) => JSON.parse(line).verdict ?? []);
  const unscored = verdicts.filter(({ status }) => status === "unscored");
  expect(unscored.length).toBeGreaterThanOrEqual(48);
  // a batch of truncated and empty answers sends no request; its `kind` scores 0
  for (const { parts } of verdicts.filter((verdict) => !unscored.includes(verdict)))
    expect(parts.kind).toBe(0);
});
