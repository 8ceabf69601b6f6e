// Uses a real server that fails in every way, and a tracker that posts to it through the shipped client.
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ask } from "../../lib/trackers/http.ts";
import { Delivery, NotTaken, type Tracked, type Tracker } from "../../lib/trackers/index.ts";
import { collectingGarbage } from "../fixtures/garbage.ts";
import { NO_DETAILS } from "../metrics/details.ts";
import { patient } from "../patience.ts";
import { bodyOf, eventually, runIn, SwitchedServer, scratch } from "./fixtures.ts";

const QUICK = { firstPauseMs: 5, longestPauseMs: 20 };

/** A tracker that posts each portion unchanged. */
const poster = (url: string): Tracker => ({
  name: "poster",
  send: (entries, { signal }) => ask({ url, json: entries, signal }),
});

function taking(steps: number[]): SwitchedServer["behaviour"] {
  return async (request, response) => {
    const entries = JSON.parse(await bodyOf(request)) as Tracked[];
    for (const entry of entries) if (entry.kind === "step") steps.push(entry.step);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  };
}

function deliver(tracker: Tracker, dir = scratch(), options: object = {}) {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const delivery = new Delivery(tracker, { run: runIn(dir), sitting: 1, warn, ...QUICK, ...options });
  const write = (...steps: number[]) => {
    for (const step of steps) delivery.write({ step, version: step, metrics: { a: step } }, NO_DETAILS);
  };
  return { delivery, write, warnings, dir };
}

const range = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

test("steps arrive in order, each once, and the spool is empty of work", async () => {
  const steps: number[] = [];
  const server = await SwitchedServer.on(taking(steps));
  const { delivery, write, warnings } = deliver(poster(server.url));
  write(...range(120));
  await delivery.close();
  expect(steps).toEqual(range(120));
  expect(delivery.state).toEqual({ sent: 120, waiting: 0, refused: 0, failures: 0 });
  expect(warnings).toEqual([]);
});

test("a server that is down costs the writer nothing and loses nothing; it says so once, and once that it is back", async () => {
  const steps: number[] = [];
  const server = await SwitchedServer.off(taking(steps));
  const { delivery, write, warnings } = deliver(poster(server.url));
  const begun = performance.now();
  write(...range(200));
  expect(performance.now() - begun).toBeLessThan(patient(1000));
  await eventually(() => delivery.state.failures >= 3);
  expect(delivery.state).toMatchObject({ sent: 0, waiting: 200 });
  expect(warnings).toEqual([
    expect.stringMatching(/^tracker poster does not accept entries \(.*ECONNREFUSED.*sent later$/),
  ]);
  await server.switchOn();
  await eventually(() => delivery.state.waiting === 0);
  expect(steps).toEqual(range(200));
  expect(warnings[1]).toMatch(/answers again/);
  await delivery.close();
  expect(warnings).toHaveLength(2);
});

test.each([
  ["500", 500, {}],
  ["503", 503, {}],
  ["429", 429, {}],
  ["401, as a key may be set right", 401, {}],
])("what a server answers with %s is sent again", async (_, status, headers) => {
  const steps: number[] = [];
  const good = taking(steps);
  const server = await SwitchedServer.on(
    (_request, response) => void response.writeHead(status, headers).end("no"),
  );
  const { delivery, write } = deliver(poster(server.url));
  write(1, 2, 3);
  await eventually(() => delivery.state.failures >= 2);
  server.behaviour = good;
  await eventually(() => delivery.state.waiting === 0);
  expect(steps).toEqual([1, 2, 3]);
  await delivery.close();
});

test("Retry-After is waited for", async () => {
  const steps: number[] = [];
  const times: number[] = [];
  const good = taking(steps);
  const server = await SwitchedServer.on((request, response) => {
    times.push(performance.now());
    if (times.length > 1) return good(request, response);
    response.writeHead(429, { "retry-after": "1" }).end();
  });
  const { delivery, write } = deliver(poster(server.url));
  write(1);
  await eventually(() => delivery.state.waiting === 0);
  expect(times).toHaveLength(2);
  expect(times[1]! - times[0]!).toBeGreaterThan(950);
  await delivery.close();
});

test("an answer that breaks off counts as none, and one that never comes is given up", async () => {
  const steps: number[] = [];
  const good = taking(steps);
  let calls = 0;
  const server = await SwitchedServer.on(async (request, response) => {
    calls += 1;
    if (calls === 1) {
      response.writeHead(200, { "content-length": "1000" }).write("{");
      setTimeout(() => response.destroy(), 10);
    } else if (calls > 2) await good(request, response); // the server never answers the second request
  });
  using _garbage = collectingGarbage();
  const { delivery, write } = deliver(poster(server.url), scratch(), { timeoutMs: patient(1000) });
  write(7);
  await eventually(() => delivery.state.waiting === 0);
  expect([calls, steps, delivery.state.failures]).toEqual([3, [7], 2]);
  await delivery.close();
});

test("a slow server holds nobody up, and a run that ends does not wait for one that is silent", async () => {
  const server = await SwitchedServer.on(() => {}); // never answers
  const { delivery, write, warnings } = deliver(poster(server.url), scratch(), { timeoutMs: 60_000 });
  write(1, 2);
  await eventually(() => server.requests === 1);
  const begun = performance.now();
  await delivery.close(100);
  expect(performance.now() - begun).toBeLessThan(30_000);
  expect(warnings).toEqual([expect.stringMatching(/has 2 entries that are not sent yet: hone track send/)]);
});

test("a tracker that ignores its signal is left behind", async () => {
  const stuck: Tracker = { name: "stuck", send: () => new Promise(() => {}) };
  const { delivery, write } = deliver(stuck, scratch(), { timeoutMs: 10 });
  write(1);
  await eventually(() => delivery.state.failures >= 2);
  await delivery.close(10);
});

test("what a killed process left is sent by the next one, with what the tracker remembered, a torn line not", async () => {
  const dir = scratch();
  const first: Tracker = {
    name: "poster",
    send: ([entry]) =>
      entry?.kind === "step" && entry.step === 1
        ? Promise.resolve({ id: 5 })
        : Promise.reject(new Error("down")),
  };
  const killed = deliver(first, dir);
  killed.write(1);
  await eventually(() => killed.delivery.state.sent === 1);
  killed.write(2, 3);
  await eventually(() => killed.delivery.state.failures >= 1);
  await killed.delivery.close(0);
  appendFileSync(join(dir, "trackers", "poster.jsonl"), '{"kind":"step","step":4');
  const got: unknown[] = [];
  const second: Tracker = {
    name: "poster",
    send: async (entries, { memory }) =>
      void got.push([entries.map((e) => e.kind === "step" && e.step), memory]),
  };
  const next = deliver(second, dir);
  await eventually(() => next.delivery.state.waiting === 0);
  expect(got).toEqual([[[2, 3], { id: 5 }]]);
  expect(next.delivery.state).toMatchObject({ sent: 3, waiting: 0 });
  await next.delivery.close();
});

test("an entry that is refused for good is set aside by itself, the others arrive", async () => {
  const steps: number[] = [];
  const picky: Tracker = {
    name: "picky",
    send: async (entries) => {
      const numbers = entries.map((entry) => (entry.kind === "step" ? entry.step : 0));
      if (numbers.includes(3)) throw new NotTaken("3 is odd", { refused: true });
      steps.push(...numbers);
    },
  };
  const { delivery, write, dir, warnings } = deliver(picky);
  write(1, 2, 3, 4);
  await eventually(() => delivery.state.waiting === 0);
  await delivery.close();
  expect(steps).toEqual([1, 2, 4]);
  expect(delivery.state).toMatchObject({ sent: 3, refused: 1 });
  const aside = readFileSync(join(dir, "trackers", "picky.refused.jsonl"), "utf8");
  expect(JSON.parse(aside)).toMatchObject({ why: "3 is odd", entry: { step: 3 } });
  expect(warnings).toEqual([expect.stringContaining("set aside in its .refused.jsonl file: 3 is odd")]);
});

test("a spool that is sent does not grow without end, and in memory is one portion", async () => {
  const most: number[] = [];
  const dir = scratch();
  const counting: Tracker = { name: "counting", send: async (entries) => void most.push(entries.length) };
  const { delivery } = deliver(counting, dir);
  const wide = Object.fromEntries(range(400).map((i) => [`metric/${i}`, i + 0.123456789]));
  for (let round = 0; round < 4; ++round) {
    for (const step of range(100)) delivery.write({ step, version: 1, metrics: wide }, NO_DETAILS);
    await eventually(() => delivery.state.waiting === 0);
  }
  expect(Math.max(...most)).toBeLessThanOrEqual(50);
  expect(statSync(join(dir, "trackers", "counting.jsonl")).size).toBeLessThan(2 << 20);
  expect(delivery.state.sent).toBe(400);
  await delivery.close();
});

test("a process killed between emptying its spool and saying so starts at the front", async () => {
  const dir = scratch();
  const sent: number[] = [];
  const tracker: Tracker = { name: "poster", send: async (entries) => void sent.push(entries.length) };
  await deliver(tracker, dir).delivery.close();
  writeFileSync(join(dir, "trackers", "poster.json"), '{"offset":5000,"sent":9,"refused":0,"failures":0}\n');
  const { delivery, write } = deliver(tracker, dir);
  write(10);
  await delivery.close();
  expect([sent, delivery.state.sent]).toEqual([[1], 10]);
});

test("a spool that cannot be written warns once and throws nothing", async () => {
  const { delivery, write, warnings, dir } = deliver({ name: "poster", send: async () => {} });
  const { rmSync } = await import("node:fs");
  rmSync(join(dir, "trackers"), { recursive: true });
  write(1, 2);
  expect(warnings).toEqual([expect.stringContaining("cannot write its spool")]);
  await delivery.close().catch(() => {});
});
