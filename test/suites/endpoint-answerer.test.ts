// Runs against a real HTTP server.

import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import type { Problem } from "../../lib/records.ts";
import type { Drawn } from "../../lib/suites/answerer.ts";
import { EndpointAnswerer, type EndpointOptions } from "../../lib/suites/endpoint-answerer.ts";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { LocalServer } from "../fixtures/local-server.ts";
import { judgeHere, scratchFolder, sums } from "./scripted.ts";

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly seed: number;
  readonly [field: string]: unknown;
}

/** A model that adds: answers "What is a + b?" in a box. */
class Adder extends LocalServer {
  readonly asked: Asked[] = [];
  say: (asked: Asked, response: ServerResponse) => void = (asked, response) =>
    response.end(JSON.stringify(completion(sumOf(asked))));
  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = (await json(request)) as Asked;
    this.asked.push(asked);
    this.say(asked, response);
  }
}

const sumOf = ({ messages }: Asked): string => {
  const [a, b] = messages.at(-1)!.content.match(/\d+/g)!.map(Number) as [number, number];
  return `\\boxed{${a + b}}`;
};
const completion = (content: string | null, message: object = {}, finish_reason = "stop") => ({
  id: "x",
  choices: [{ index: 0, message: { role: "assistant", content, ...message }, finish_reason }],
  usage: { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 },
});

let server: Adder | undefined;
afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
});

async function answererOf(change: Partial<EndpointOptions> = {}) {
  server = new Adder();
  const url = `${await server.listen()}/v1`;
  const sampling = { temperature: 0.6, topP: 0.95, maxTokens: 100 };
  const answerer = new EndpointAnswerer({
    url,
    model: "org/adder",
    ...sampling,
    concurrency: 4,
    backoffMs: 2,
    retries: 2,
    ...change,
  });
  return { server, answerer };
}

async function drawn(answerer: EndpointAnswerer, problem: Problem, attempt = 0, seed = 42): Promise<Drawn> {
  const found: Drawn[] = [];
  await answerer.ask({ problem, attempt, seeds: [seed] }, (_, one) => found.push(one));
  return found[0]!;
}

const problem = sums(3).problem(2);

test("asks as the server's users do, and reads what it says", async () => {
  const { server, answerer } = await answererOf();
  expect(await drawn(answerer, problem)).toEqual({ text: "\\boxed{4}", finish: "eos", tokens: 7 });
  expect(server.asked[0]).toEqual({
    model: "org/adder",
    messages: [{ role: "user", content: "What is 2 + 2?" }],
    temperature: 0.6,
    top_p: 0.95,
    max_tokens: 100,
    seed: 42,
  });
  await drawn(answerer, {
    ...problem,
    messages: [
      { role: "system", content: "Add." },
      { role: "user", content: "1 + 1" },
    ],
  });
  expect(server.asked[1]!.messages[0]).toEqual({ role: "system", content: "Add." });
  await drawn(answerer, problem, 1);
  await drawn(answerer, problem, 1);
  expect(server.asked[2]!.seed).toBe(server.asked[3]!.seed);
  expect(server.asked[2]!.seed).not.toBe(42);
});

test.each([
  [completion("4", { reasoning_content: "2 and 2" }), "<think>2 and 2</think>4", "eos"],
  [completion("4", { reasoning: "hm" }, "length"), "<think>hm</think>4", "length"],
  [completion(null), "", "eos"],
  [
    completion(null, { tool_calls: [{ function: { name: "f", arguments: "{}" } }] }),
    '<tool_calls>[{"function":{"name":"f","arguments":"{}"}}]</tool_calls>',
    "eos",
  ],
])("%j", async (json, text, finish) => {
  const { server, answerer } = await answererOf();
  server.say = (_, response) => response.end(JSON.stringify(json));
  expect(await drawn(answerer, problem)).toEqual({ text, finish, tokens: 7 });
});

test.each([
  [{}],
  [{ ...completion("x"), usage: undefined }],
  [{ choices: [], usage: { completion_tokens: 1 } }],
  [[]],
])("%j is no chat completion: tried again, then an outage", async (json) => {
  const { server, answerer } = await answererOf();
  server.say = (_, response) => response.end(JSON.stringify(json));
  expect(await drawn(answerer, problem)).toEqual({
    outage: expect.stringContaining("not a chat completion"),
  });
  expect(server.asked).toHaveLength(3);
});

test("an evaluation over a server that fails now and then ends as over one that does not; its key is nowhere", async () => {
  const results = [];
  for (const isFlaky of [false, true]) {
    const dir = scratchFolder();
    const { server, answerer } = await answererOf({ key: "sk-secret" });
    let n = 0;
    server.say = (asked, response) => {
      n += 1;
      if (isFlaky && n % 5 === 1) response.writeHead(429).end();
      else if (isFlaky && n % 5 === 2) response.destroy();
      else if (isFlaky && n % 5 === 3) response.writeHead(500).end();
      else response.end(JSON.stringify(completion(sumOf(asked))));
    };
    const plan = { dir, model: "adder", seeds: [1, 2], verifiers: judgeHere };
    // about every third request fails; the next session asks again what failed in this one
    let result = await evaluateSuites(answerer, [sums(6)], plan);
    for (let session = 0; session < 20 && result.suites[0]?.absent !== 0; session++)
      result = await evaluateSuites(answerer, [sums(6)], plan);
    results.push(result);
    for (const name of readdirSync(dir).filter((file) => !file.startsWith(".")))
      expect(readFileSync(join(dir, name)).includes("sk-secret")).toBe(false);
    await answerer[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  }
  expect(results[1]).toEqual(results[0]);
  expect(results[0]!.suites[0]).toMatchObject({ accuracy: 1, answers: 12, meanTokens: 7 });
});

test("a server that is gone ends the evaluation; what was answered is kept and asked no more", async () => {
  const dir = scratchFolder();
  const { server, answerer } = await answererOf({ retries: 0 });
  server.say = (asked, response) =>
    server.asked.length <= 3 ? response.end(JSON.stringify(completion(sumOf(asked)))) : response.destroy();
  const plan = { dir, model: "adder", seeds: [1], verifiers: judgeHere };
  await expect(evaluateSuites(answerer, [sums(40)], plan)).rejects.toMatchObject({
    code: "HONE_ERR_ENDPOINT",
    message: expect.stringContaining("gave no answer to 8 requests in a row"),
    hint: expect.stringContaining("repeat the command when the server is up"),
  });
  const before = server.asked.length;
  server.say = (asked, response) => response.end(JSON.stringify(completion(sumOf(asked))));
  const { suites } = await evaluateSuites(answerer, [sums(40)], plan);
  expect(suites[0]).toMatchObject({ accuracy: 1, answers: 40 });
  const questions = server.asked.map(({ messages }) => messages[0]!.content);
  for (const answered of questions.slice(0, 3)) expect(questions.slice(before)).not.toContain(answered);
});
