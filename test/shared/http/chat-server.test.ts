// Runs against a real HTTP server. Deliberate faults (mutants) that these tests detect: 429 is not retried;
// Retry-After is ignored; a truncated answer is accepted; an error prints the key; connections are unlimited.
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, expect, test, vi } from "vitest";
import { ChatServer, type ChatServerOptions } from "../../../lib/shared/http/chat-server.ts";
import { collectingGarbage } from "../../fixtures/garbage.ts";
import { LocalServer } from "../../fixtures/local-server.ts";

type Script = (request: IncomingMessage, response: ServerResponse, count: number) => void;

class Scripted extends LocalServer {
  count = 0;
  readonly times: number[] = [];
  readonly bodies: string[] = [];
  readonly #script: Script;
  constructor(script: Script) {
    super();
    this.#script = script;
  }
  protected answer(request: IncomingMessage, response: ServerResponse): void {
    this.times.push(performance.now());
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      this.bodies.push(body);
      this.#script(request, response, this.count++);
    });
  }
}

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

async function serving(script: Script, change: Partial<ChatServerOptions> = {}) {
  const server = new Scripted(script);
  const url = `${await server.listen()}/v1/`;
  const chat = new ChatServer({ url, concurrency: 4, timeoutMs: 2000, retries: 4, backoffMs: 2, ...change });
  open.push(server, { [Symbol.asyncDispose]: async () => chat[Symbol.dispose]() });
  return { server, chat, ask: () => chat.post("/x", { a: 1 }, (json) => json) };
}

const ok = (response: ServerResponse, json: unknown = { fine: true }) => response.end(JSON.stringify(json));
const FINE = { value: { fine: true } };

/** Faults that happen once; the client retries each. */
const FAULTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "429": (response) => response.writeHead(429).end("slow down"),
  "500": (response) => response.writeHead(500).end("oops"),
  "503": (response) => response.writeHead(503).end(),
  "a cut connection": (response) => response.destroy(),
  "an answer cut in the middle": (response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write('{"fine":');
    setTimeout(() => response.destroy(), 5);
  },
  "no JSON": (response) => response.end('{"fine": tru'),
  "an empty answer": (response) => response.end(),
};

test.each(Object.keys(FAULTS))("%s is tried again", async (name) => {
  const { server, ask } = await serving((_, response, count) =>
    count < 2 ? FAULTS[name]!(response) : ok(response),
  );
  expect(await ask()).toEqual(FINE);
  expect(server.count).toBe(3);
  expect(server.bodies).toEqual(Array(3).fill('{"a":1}'));
});

test.each(Object.keys(FAULTS))("%s for good is an outage with its cause, after all tries", async (name) => {
  const { server, ask } = await serving((_, response) => FAULTS[name]!(response), { retries: 2 });
  expect(await ask()).toEqual({
    outage: expect.stringMatching(/429|500|503|hang up|reset|cut off|aborted|JSON/),
  });
  expect(server.count).toBe(3);
});

test("a slow answer is given up after its time, and tried again", async () => {
  const { ask, server } = await serving((_, response, count) => (count === 0 ? undefined : ok(response)), {
    timeoutMs: 1000,
  });
  expect(await ask()).toEqual(FINE);
  expect(server.count).toBe(2);
  using _garbage = collectingGarbage();
  const never = await serving(() => {}, { timeoutMs: 300, retries: 1 });
  expect(await never.ask()).toEqual({ outage: "no answer within 300 ms" });
});

test("waits longer each time, and as long as the server asks", async () => {
  const busy = await serving((_, response, count) => (count < 3 ? FAULTS["500"]!(response) : ok(response)), {
    backoffMs: 40,
  });
  await busy.ask();
  const waits = busy.server.times.slice(1).map((at, i) => at - busy.server.times[i]!);
  for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(20 * 2 ** i - 2);
  const told = await serving((_, response, count) =>
    count === 0 ? response.writeHead(429, { "retry-after": "1" }).end() : ok(response),
  );
  await told.ask();
  expect(told.server.times[1]! - told.server.times[0]!).toBeGreaterThanOrEqual(990);
});

test.each([400, 413, 422])("%i is this request's outage, not tried again", async (status) => {
  const { server, ask } = await serving((_, response) =>
    response.writeHead(status).end('{"error":"too long"}'),
  );
  expect(await ask()).toEqual({ outage: `the server says ${status}: {"error":"too long"}` });
  expect(server.count).toBe(1);
});

test.each([401, 403, 404])("%i is the server's answer to everybody", async (status) => {
  const { chat, ask } = await serving((_, response) => response.writeHead(status).end("no"), {
    key: "sk-secret",
  });
  const error = await ask().catch((caught: unknown) => caught);
  expect(error).toMatchObject({
    code: "HONE_ERR_ENDPOINT",
    message: `${chat.url}/x: the server says ${status}: no`,
  });
  expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain("sk-secret");
});

test("sends the key, and what cannot be read is tried again", async () => {
  const heads: unknown[] = [];
  const { chat } = await serving(
    (request, response, count) => {
      heads.push(request.headers.authorization, request.url, request.method);
      ok(response, { count });
    },
    { key: "sk-secret" },
  );
  const read = (json: unknown) => {
    if ((json as { count: number }).count < 2) throw new Error("not yet");
    return "there";
  };
  expect(await chat.post("/chat/completions", {}, read)).toEqual({ value: "there" });
  expect(heads.slice(0, 3)).toEqual(["Bearer sk-secret", "/v1/chat/completions", "POST"]);
});

test("never more connections than it may have", async () => {
  let [now, most] = [0, 0];
  const { chat } = await serving((_, response) => {
    most = Math.max(most, ++now);
    setTimeout(() => {
      now -= 1;
      ok(response);
    }, 5);
  });
  await Promise.all(Array.from({ length: 20 }, () => chat.post("/x", {}, (json) => json)));
  expect(most).toBe(4);
});

test("a request that waits for a connection has all of its time once it has one", async () => {
  const { ask, server } = await serving((_, response, count) => (count === 0 ? undefined : ok(response)), {
    concurrency: 1,
    timeoutMs: 2000,
    retries: 0,
  });
  const never = ask();
  expect(await Promise.all([never, ask(), ask()])).toEqual([{ outage: expect.any(String) }, FINE, FINE]);
  expect(server.count).toBe(3);
});

test("many requests that wait to be tried again are no leak", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const { ask } = await serving((_, response) => response.writeHead(503).end(), {
    retries: 1,
    backoffMs: 50,
  });
  await Promise.all(Array.from({ length: 30 }, ask));
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
});

test("closing ends what is under way, without another try", async () => {
  const { chat, ask, server } = await serving(() => {});
  const pending = ask();
  await new Promise((resolve) => setTimeout(resolve, 30));
  chat[Symbol.dispose]();
  expect(await pending).toEqual({ outage: expect.any(String) });
  expect(server.count).toBe(1);
});

test.each(["localhost:8000", "ftp://x/v1", "", "http://"])("%j is no address", (url) => {
  expect(() => new ChatServer({ url, concurrency: 1, timeoutMs: 1, retries: 0, backoffMs: 1 })).toThrow(
    expect.objectContaining({ code: "HONE_ERR_USAGE" }) as Error,
  );
});
