import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { REGISTERS } from "../../lib/fleet/names.ts";
import {
  type RoleFacts,
  RoleMetrics,
  readMetricsPlace,
  TokenRate,
  usableMetricsPlace,
} from "../../lib/fleet/role-metrics.ts";
import { openStore } from "../../lib/streams/index.ts";

test.each([
  ["9400", { host: "127.0.0.1", port: 9400 }],
  ["0", { host: "127.0.0.1", port: 0 }],
  ["0.0.0.0:9400", { host: "0.0.0.0", port: 9400 }],
  ["[::1]:9400", { host: "::1", port: 9400 }],
])("HONE_METRICS=%s", (text, place) => expect(readMetricsPlace(text)).toEqual(place));

test.each(["70000", "here", ":9400", "9400/metrics", ""])("HONE_METRICS=%s is refused", (text) => {
  expect(() => readMetricsPlace(text)).toThrow(/HONE_METRICS is .*, not a port, or host:port/);
});

test("an address at which this machine cannot listen is refused; a port that another process has is not", async () => {
  await expect(usableMetricsPlace("no-such-host.invalid:9400")).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: expect.stringMatching(/^HONE_METRICS is "no-such-host\.invalid:9400": getaddrinfo/),
  });
  await expect(usableMetricsPlace("192.0.2.1:0")).rejects.toThrow(/HONE_METRICS is .*EADDRNOTAVAIL/);
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  expect(await usableMetricsPlace(String(port))).toEqual({ host: "127.0.0.1", port });
  taken.close();
});

test("a process says how it is now, and where, in the store", async () => {
  await using store = await openStore("memory:", { run: "test" });
  let facts: RoleFacts = { version: 3, lag: 1, tokens: 100, restarts: 2 };
  const said: string[] = [];
  const metrics = new RoleMetrics({
    store,
    place: { host: "127.0.0.1", port: 0 },
    name: "actor.1",
    runId: "run-1",
    beatMs: 20,
    say: (line) => said.push(line),
    facts: () => facts,
  });
  const url = await store.kv.waitFor(REGISTERS.metrics("actor.1"), { waitMs: 20_000 });
  expect(said).toEqual([`metrics at ${url}`]);
  const lines = async () =>
    (await (await fetch(url!)).text()).split("\n").filter((line) => !line.startsWith("#"));
  const labels = 'run="run-1",process="actor.1"';
  expect(await lines()).toEqual([
    `hone_process_version{${labels}} 3`,
    `hone_process_lag{${labels}} 1`,
    expect.stringMatching(/^hone_process_tokens_per_second\{.*\} [\d.e-]+$/),
    `hone_process_tokens_total{${labels}} 100`,
    `hone_process_restarts_total{${labels},place="actor.1"} 2`,
    "",
  ]);
  facts = { version: 4, lag: 0, tokens: 300, restarts: { "actor.0": 1, "trainer.0": 0 } };
  const text = (await lines()).join("\n");
  expect(text).toContain(`hone_process_version{${labels}} 4`);
  expect(text).toContain(`hone_process_restarts_total{${labels},place="actor.0"} 1`);
  expect(text).toContain(`hone_process_restarts_total{${labels},place="trainer.0"} 0`);
  facts = { judged: 12, restarts: 1 };
  expect(await lines(), "a verifier host has no weights and no tokens").toEqual([
    `hone_process_judged_total{${labels}} 12`,
    `hone_process_restarts_total{${labels},place="actor.1"} 1`,
    "",
  ]);
  metrics[Symbol.dispose]();
  await expect(fetch(url!)).rejects.toThrow();
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("tokens a second are those of the last five seconds", () => {
  const rate = new TokenRate();
  expect(rate.at(100)).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(rate.at(150)).toBe(50);
  vi.advanceTimersByTime(1000);
  expect(rate.at(250)).toBe(75);
  for (let i = 0; i < 6; i++) {
    vi.advanceTimersByTime(1000);
    rate.at(250);
  }
  expect(rate.at(250)).toBe(0);
});
