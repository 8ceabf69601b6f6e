import { afterAll, beforeAll, expect, test } from "vitest";
import { probeJudge } from "../../../lib/rewards/judge/probe.ts";
import { JudgeServer } from "../../fixtures/judge-server.ts";

const server = new JudgeServer(({ key }) => `VERDICT ${key}: 5`);
let url: string;
beforeAll(async () => {
  url = `${await server.listen()}/v1`;
});
afterAll(() => server[Symbol.asyncDispose]());

const options = {
  model: "j",
  kind: "rubric",
  rubric: "It is right.",
  scale: 10,
  samplings: 4,
  temperature: 0,
  maxTokens: 8,
  maxAnswerChars: 10,
  concurrency: 1,
  timeoutMs: 5_000,
  retries: 9,
  backoffMs: 60_000,
  budget: { calls: 0 },
  cache: false,
} as const;

test("one question, whatever the samplings and the budget", async () => {
  expect(await probeJudge({ ...options, url })).toEqual({ score: 0.5, milliseconds: expect.any(Number) });
  expect(server.questions).toHaveLength(1);
});

test("no retries: a dead server is known at once", async () => {
  const probe = await probeJudge({ ...options, url: "http://127.0.0.1:9/v1" });
  expect(probe).toMatchObject({ fault: expect.stringContaining("ECONNREFUSED") as string });
});
