// Tests `hone check` with a language model as the judge that is alive, dead, refuses the key, or answers nonsense.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { honeHere } from "../fixtures/hone-here.ts";
import { type JudgeScript, JudgeServer } from "../fixtures/judge-server.ts";
import { patient } from "../patience.ts";

vi.setConfig({ testTimeout: patient(60_000) });

const dir = mkdtempSync(join(tmpdir(), "hone-judge-check-"));
const right: JudgeScript = ({ key }) => `VERDICT ${key}: 8`;
const server = new JudgeServer(right);
let url: string;
beforeAll(async () => {
  url = `${await server.listen()}/v1`;
});
afterEach(() => {
  server.questions.length = 0;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true });
});

let written = 0;
/** Checks a recipe whose only domain has a judge with these `fields`. */
async function check(fields: object, ...flags: string[]): Promise<{ status: number; text: string }> {
  written += 1;
  const recipe = {
    name: "judged",
    model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 64 } },
    domains: {
      math: { weight: 1, source: "procedural/math", reward: { judge: { url, model: "big", ...fields } } },
    },
    rollouts: { maxOutputTokens: 8, maxPromptTokens: 64 },
    training: { steps: 20, groupsPerStep: 2 },
  };
  const file = join(dir, `recipe-${written}.mjs`);
  writeFileSync(file, `export default ${JSON.stringify(recipe)};`);
  const { status, stdout, stderr } = await honeHere(["check", file, ...flags], { HONE_TEST_JUDGE: "sk-1" });
  return { status, text: (stdout + stderr).replace(/\s+/g, " ") };
}

test("a judge is asked one question, and its score and time are told", async () => {
  server.script = right;
  const { status, text } = await check({ apiKeyEnv: "HONE_TEST_JUDGE", samplings: 2 });
  expect(text).toMatch(/✓ judge big at http:\S+ answered in \d+ ms and gave 0\.80 of 1 to a right answer/);
  expect(status).toBe(0);
  expect(server.questions).toHaveLength(1);
  expect(server.questions[0]).toMatchObject({
    model: "big",
    authorization: "Bearer sk-1",
    quoted: { ANSWER: "5" },
  });
});

test("a pair is compared with what stands where the judge looks for it", async () => {
  server.script = ({ key }) => `VERDICT ${key}: A`;
  const { text } = await check({ kind: "pairwise", against: "best.answer" });
  expect(text).toMatch(/✓ judge .* gave [01]\.\d\d of 1/);
  expect(Object.values(server.questions[0]!.quoted)).toContain("I do not know.");
});

const refusing =
  (status: number): JudgeScript =>
  (_, response) =>
    void response.writeHead(status).end("no");

test.each<[string, JudgeScript, object, RegExp]>([
  [
    "a wrong key",
    refusing(401),
    { apiKeyEnv: "HONE_TEST_JUDGE" },
    /says 401: no\. The server refuses the key in HONE_TEST_JUDGE\./,
  ],
  ["no key", refusing(401), {}, /The server asks for a key: name .* in judge\.apiKeyEnv\./],
  [
    "a missing key",
    right,
    { apiKeyEnv: "HONE_TEST_NO_KEY" },
    /HONE_TEST_NO_KEY is not set .* export HONE_TEST_NO_KEY=\.\.\./,
  ],
  ["another address", refusing(404), {}, /says 404: no\. Check judge\.url/],
  [
    "nonsense",
    () => "I like it.",
    {},
    /no verdict in 3 replies\. The model answers, but not in the requested form/,
  ],
  [
    "silence",
    () => undefined,
    { timeoutMs: 200 },
    /no answer within 200 ms\. Check that the server has loaded/,
  ],
  [
    "nobody there",
    right,
    { url: "http://127.0.0.1:9/v1" },
    /ECONNREFUSED 127\.0\.0\.1:9\. Start the server, or check judge\.url\./,
  ],
])("%s fails the check with what to do", async (_, script, fields, said) => {
  server.script = script;
  const { status, text } = await check(fields);
  expect(text).toMatch(said);
  expect(text).toContain("✗ judge big at");
  expect(text).not.toContain("sk-1");
  expect(status).toBe(3);
});

test("--no-judge asks nothing, and says so", async () => {
  const { status, text } = await check({ url: "http://127.0.0.1:9/v1" }, "--no-judge");
  expect(text).toContain("✓ judge big at http://127.0.0.1:9/v1 not asked (--no-judge)");
  expect(status).toBe(0);
});
