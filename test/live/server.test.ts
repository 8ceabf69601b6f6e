import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { LiveServer } from "../../lib/live/index.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { BAD_REQUESTS, neverReads, REFUSED, UntrustedClient } from "../untrusted-clients.ts";
import { addStep, smallRun, writeStatus } from "./live-run.ts";

const at = (live: LiveServer, path: string) => `http://127.0.0.1:${live.port}/${path}`;
const withToken = (live: LiveServer) => ({ headers: { "x-hone-token": live.token } });

/** Returns the status for a Host header, which fetch does not let a caller set. */
function statusFor(live: LiveServer, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const path = `/api/overview?token=${live.token}`;
    request({ port: live.port, host: "127.0.0.1", path, headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    })
      .on("error", reject)
      .end();
  });
}

test("listens at this machine alone, and prints an address that works", async () => {
  await using live = await LiveServer.open([smallRun(1)]);
  expect(live.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}$/);
  const page = await fetch(live.url);
  expect(await page.text()).toContain('src="main.js"');
  expect(page.headers.get("content-security-policy")).toMatch(/default-src 'none'; script-src 'self'/);
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
});

test("tells nothing of a run without the token", async () => {
  await using live = await LiveServer.open([smallRun(1)]);
  for (const name of ["overview", "events", "series?name=a", "recipe", "control", "nothing"]) {
    for (const token of ["", `token=${"0".repeat(32)}`, `token=${live.token.slice(1)}`]) {
      const answer = await fetch(at(live, `api/${name}${name.includes("?") ? "&" : "?"}${token}`));
      expect(answer.status, `${name} ${token}`).toBe(403);
      expect(await answer.text()).not.toContain("small");
    }
  }
  const page = await fetch(at(live, ""));
  expect(await page.text()).not.toContain("small");
});

test("answers no name but its own: a foreign name may resolve to this machine", async () => {
  await using live = await LiveServer.open([smallRun(1)]);
  expect(await statusFor(live, `127.0.0.1:${live.port}`)).toBe(200);
  expect(await statusFor(live, `localhost:${live.port}`)).toBe(200);
  expect(await statusFor(live, "evil.example")).toBe(421);
});

test("asks are read, controls are posted, with the token in the header and from its own page", async () => {
  const dir = smallRun(1);
  writeStatus(dir);
  await using live = await LiveServer.open([dir]);
  const post = (path: string, headers: Record<string, string>, body = '{"action":"pause"}') =>
    fetch(at(live, path), { method: "POST", headers, body }).then(({ status }) => status);
  const own = { "x-hone-token": live.token };
  expect(await post("api/overview", own)).toBe(405);
  expect(await post(`api/control?token=${live.token}`, {})).toBe(405);
  expect(await post("api/control", { ...own, origin: "http://evil.example" })).toBe(403);
  expect(await post("api/control?run=4", own)).toBe(400);
  expect(await post("api/control", own, '{"action":"explode"}')).toBe(400);
  expect(await post("api/control", own, "{")).toBe(400);
  expect(await post("api/control", own, `"${"x".repeat(20_000)}"`)).toBe(413);
  expect(await post("api/control?run=0", own)).toBe(200);
  expect((await fetch(at(live, "api/control"), withToken(live))).status).toBe(405);
});

test("an untrusted request ends no run, and a half-sent one is dropped long before Node would", async () => {
  const usual = createServer();
  await new Promise<void>((resolve) => usual.listen(0, "127.0.0.1", resolve));
  const halves = ["", "G", "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n"];
  const there = halves.map((half) => new UntrustedClient((usual.address() as AddressInfo).port, half));
  await using live = await LiveServer.open([smallRun(1)]);
  for (const bad of BAD_REQUESTS)
    expect(await new UntrustedClient(live.port, bad).answer, bad.slice(0, 40)).toMatch(REFUSED);
  const here = Array.from({ length: 160 }, (_, i) => new UntrustedClient(live.port, halves[i % 3]!));
  const all = Promise.all(here.map(({ answer }) => answer)).then(() => "ours");
  expect(await Promise.race([all, ...there.map(({ answer }) => answer.then(() => "Node's"))])).toBe("ours");
  expect((await fetch(live.url)).status).toBe(200);
  usual.closeAllConnections();
  usual.close();
});

test("150 silent connections keep the owner of the page out for less than a second", async () => {
  await using live = await LiveServer.open([smallRun(1)]);
  const silent = Array.from({ length: 150 }, () => connect(live.port, "127.0.0.1"));
  for (const socket of silent) socket.on("error", () => {}); // reset
  await Promise.all(silent.map((socket) => once(socket, "connect")));
  const asked = performance.now();
  const answer = await fetch(at(live, "api/overview"), withToken(live));
  expect(answer.status).toBe(200);
  expect(performance.now() - asked).toBeLessThan(1000);
  for (const socket of silent) socket.destroy();
});

/** More than the system's socket buffers hold. */
const MOST_BYTES = 12 << 20;

test.runIf(longest)(
  "who asks for files or a stream and never reads is let go, or has an answer and asks no more; who listens is not",
  async () => {
    await using live = await LiveServer.open([smallRun(1)]);
    const ask = (path: string) => `GET /${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
    const file = await neverReads(live.port, ask("uplot.js"), MOST_BYTES / 40_000);
    const stream = await neverReads(live.port, ask(`api/events?token=${live.token}`), 1);
    const answered = new UntrustedClient(live.port, ask("uplot.js"));
    const listening = await fetch(at(live, "api/events"), withToken(live));
    const heard = listening.body!.pipeTo(new WritableStream());
    const closed = [file, stream].map(({ socket }) => once(socket, "close"));
    const metrics = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`metric/${i}`, i]));
    const step = { run: 0, record: { step: 1, version: 1, metrics } };
    while (stream.socket.writableLength === 0) {
      live.watch.stream.send([["step", step]], "c");
      await setTimeout();
    }
    await Promise.all(closed);
    expect(await answered.answer).toMatch(/^HTTP\/1.1 200/);
    expect(live.watch.stream.listeners).toBe(1);
    await live[Symbol.asyncDispose]();
    await heard;
  },
  patient(60_000),
);

test("an error of the listening socket while the page is served ends no run", async () => {
  await using live = await LiveServer.open([smallRun(1)]);
  const { server } = await neverReads(live.port, "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", 1);
  for (const code of ["EMFILE", "ENFILE"]) server.emit("error", Object.assign(new Error(code), { code }));
  expect((await fetch(live.url)).status).toBe(200);
});

test("what is long comes packed, with the same numbers", async () => {
  const dir = smallRun(2000);
  await using live = await LiveServer.open([dir]);
  const answer = await fetch(at(live, "api/series?run=0&name=a"), withToken(live));
  expect(answer.headers.get("content-encoding")).toBe("gzip");
  expect(((await answer.json()) as { steps: number[] }).steps).toHaveLength(2000);
});

test("a stream goes on from where it broke", async () => {
  const dir = smallRun(2);
  await using live = await LiveServer.open([dir]);
  const { cursor } = (await (await fetch(at(live, "api/overview"), withToken(live))).json()) as {
    cursor: string;
  };
  addStep(dir, 3);
  live.watch.look();
  const listen = async (headers: Record<string, string>, query = "") => {
    const answer = await fetch(at(live, `api/events?token=${live.token}${query}`), { headers });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("event: ")) text += (await reader.read()).value;
    await reader.cancel();
    return text;
  };
  expect(await listen({}, `&from=${cursor}`)).toContain('"step":3');
  expect(await listen({ "last-event-id": cursor })).toContain('"step":3');
  expect(await listen({ "last-event-id": "1.1" })).toContain("event: reset");
});

test("a port that is taken is said", async () => {
  await using live = await LiveServer.open([smallRun(1)]);
  await expect(LiveServer.open([smallRun(1)], { port: live.port })).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    hint: expect.stringContaining("--port"),
  });
});
