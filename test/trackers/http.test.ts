import { expect, test } from "vitest";
import { ask, request, retryAfter } from "../../lib/trackers/http.ts";
import { SwitchedServer } from "./fixtures.ts";

const signal = AbortSignal.timeout(60_000);

test.each([
  [200, undefined],
  [400, true],
  [422, true],
  [401, false],
  [404, false],
  [408, false],
  [429, false],
  [500, false],
  [503, false],
])("an answer of %i: refused for good is %s", async (status, refused) => {
  const server = await SwitchedServer.on((_, response) => void response.writeHead(status).end('{"x":1}'));
  const asked = ask({ url: server.url, json: {}, signal });
  if (refused === undefined) expect(await asked).toEqual({ x: 1 });
  else
    await expect(asked).rejects.toMatchObject({
      name: "NotTaken",
      refused,
      message: `HTTP ${status}: {"x":1}`,
    });
});

test("Retry-After is seconds or a date, and never longer than an hour", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(retryAfter(null)).toBeUndefined();
  expect(retryAfter("7", now)).toBe(7000);
  expect(retryAfter("Thu, 01 Jan 2026 00:00:30 GMT", now)).toBe(30_000);
  expect(retryAfter("Thu, 01 Jan 2020 00:00:00 GMT", now)).toBe(0);
  expect(retryAfter("100000000", now)).toBe(3_600_000);
  expect(retryAfter("soon", now)).toBeUndefined();
});

test("a redirect is not followed with the credentials, and an endless answer is not read to its end", async () => {
  const elsewhere = await SwitchedServer.on((_, response) => void response.end("{}"));
  const server = await SwitchedServer.on(
    (_, response) => void response.writeHead(307, { location: elsewhere.url }).end(),
  );
  await expect(
    request({ url: server.url, json: {}, headers: { authorization: "x" }, signal }),
  ).rejects.toThrow();
  expect(elsewhere.requests).toBe(0);
  const block = Buffer.alloc(1 << 20, "x");
  server.behaviour = (_, response) => {
    const more = () => {
      if (!response.destroyed && response.write(block)) setImmediate(more);
    };
    response.on("drain", more).on("error", () => {});
    more();
  };
  await expect(request({ url: server.url, method: "GET", signal })).rejects.toThrow(
    /more than 8388608 bytes/,
  );
});
