// Runs against a server of this test, in vLLM's format and in that of `echo`. Deliberate faults (mutants) that these
// tests detect: the token is not looked up by its id; an answer about other tokens is accepted; an outage gives
// zeros; the likeliest tokens are taken in the answer's order.

import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { TeacherEndpoint } from "../../../lib/orchestration/index.ts";
import { LocalServer } from "../../fixtures/local-server.ts";

interface Asked {
  readonly model: string;
  readonly prompt: readonly number[];
  readonly prompt_logprobs?: number;
  readonly echo?: boolean;
}

/** The log-prob of a token after the token before it. */
const logprobOf = (before: number, token: number) => -1 - ((before * 7 + token * 3) % 11) / 8;

const choiceOf: Record<string, (asked: Asked) => object> = {
  prompt_logprobs: ({ prompt, prompt_logprobs: k = 0 }) => ({
    prompt_logprobs: prompt.map((token, i) => {
      if (i === 0) return null;
      const all = Array.from({ length: 9 }, (_, id) => [id, logprobOf(prompt[i - 1]!, id)] as const);
      const first = all.toSorted((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, k);
      const listed = [[token, logprobOf(prompt[i - 1]!, token)] as const, ...first.toReversed()];
      return Object.fromEntries(
        listed.map(([id, logprob]) => [id, { logprob, rank: 1, decoded_token: "x" }]),
      );
    }),
  }),
  echo: ({ prompt }) => ({
    logprobs: {
      token_logprobs: [null, ...prompt.slice(1).map((token, i) => logprobOf(prompt[i]!, token)), -3],
    },
  }),
};

class Server extends LocalServer {
  readonly asked: (Asked & { readonly key: string | undefined })[] = [];
  /** Faults for the next answers, in order; later answers are right. */
  faults: ((response: ServerResponse) => void)[] = [];
  readonly #api: string;
  constructor(api: string) {
    super();
    this.#api = api;
  }
  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = (await json(request)) as Asked;
    this.asked.push({ ...asked, key: request.headers.authorization });
    const fault = this.faults.shift();
    if (fault !== undefined) fault(response);
    else response.end(JSON.stringify({ choices: [choiceOf[this.#api]!(asked)] }));
  }
}

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

async function serving(api: "prompt_logprobs" | "echo", { topK = 0, retries = 5, apiKeyEnv = "" } = {}) {
  const server = new Server(api);
  const url = `${await server.listen()}/v1`;
  const waits = { concurrency: 2, timeoutMs: 2000, retries, backoffMs: 1 };
  const teacher = new TeacherEndpoint(
    { url, model: "big", api, ...waits, ...(apiKeyEnv && { apiKeyEnv }) },
    topK,
  );
  open.push(teacher, server);
  return { server, teacher };
}

const batch = {
  tokens: Int32Array.of(1, 2, 3, 4, 5, 6, 7),
  mask: Uint8Array.of(0, 1, 1, 0, 0, 1, 0),
  cuSeqlens: Int32Array.of(0, 3, 7),
};
const expected = Float32Array.of(0, logprobOf(1, 2), logprobOf(2, 3), 0, 0, logprobOf(5, 6), 0);

test.each(["prompt_logprobs", "echo"] as const)(
  "%s: the log-probs of the tokens that the policy chose, each sequence asked by its ids",
  async (api) => {
    const { server, teacher } = await serving(api);
    expect(await teacher.score(batch)).toEqual({ logprobs: expected });
    const asked = server.asked.toSorted((a, b) => a.prompt.length - b.prompt.length);
    expect(asked.map(({ prompt }) => prompt)).toEqual([
      [1, 2, 3],
      [4, 5, 6, 7],
    ]);
    expect(asked[0]).toMatchObject({ model: "big", max_tokens: 1, temperature: 1 });
  },
);

test("the k likeliest tokens by id, in their order of likelihood, whether the token is among them or not", async () => {
  const { teacher } = await serving("prompt_logprobs", { topK: 3 });
  const { logprobs, teacherIds, teacherTopLogprobs } = await teacher.score(batch);
  expect(logprobs).toEqual(expected);
  const rows = [1, 2, 5].map((before) =>
    Array.from({ length: 9 }, (_, id) => [id, logprobOf(before, id)] as const)
      .toSorted((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, 3),
  );
  expect([...teacherIds!]).toEqual(rows.flat().map(([id]) => id));
  expect(teacherTopLogprobs).toEqual(Float32Array.from(rows.flat(), ([, logprob]) => logprob));
});

test("an outage is waited out, and an answer of other tokens, or without a number, asked for again", async () => {
  const { server, teacher } = await serving("prompt_logprobs");
  const says = (choice: object) => (response: ServerResponse) =>
    void response.end(JSON.stringify({ choices: [choice] }));
  server.faults = [
    (response) => response.destroy(),
    (response) => response.writeHead(503).end(),
    says({ prompt_logprobs: [null, { 2: { logprob: -1 } }] }),
    says({ prompt_logprobs: [null, { 3: { logprob: -1 } }, { 2: { logprob: -1 } }] }),
    says({}),
  ];
  const one = {
    tokens: batch.tokens.slice(0, 3),
    mask: batch.mask.slice(0, 3),
    cuSeqlens: Int32Array.of(0, 3),
  };
  expect(await teacher.score(one)).toEqual({ logprobs: expected.slice(0, 3) });
  expect(server.asked).toHaveLength(6);
});

test("an outage that does not end is an error, and no score; a key that is not set is one at once", async () => {
  const { server, teacher } = await serving("echo", { retries: 1 });
  server.faults = Array.from(
    { length: 9 },
    () => (response: ServerResponse) => void response.writeHead(500).end("down"),
  );
  await expect(teacher.score(batch)).rejects.toMatchObject({
    code: "HONE_ERR_ENDPOINT",
    message: expect.stringMatching(/^teacher\.endpoint http.*: the server says 500: down/),
  });
  await expect(serving("echo", { apiKeyEnv: "NO_SUCH_TEACHER_KEY" })).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: "teacher.endpoint.apiKeyEnv: NO_SUCH_TEACHER_KEY is not set",
  });
  process.env["A_TEACHER_KEY"] = "secret";
  const keyed = await serving("echo", { apiKeyEnv: "A_TEACHER_KEY" });
  await keyed.teacher.score(batch);
  expect(keyed.server.asked[0]!.key).toBe("Bearer secret");
});
