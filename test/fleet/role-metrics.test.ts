import { expect, test } from "vitest";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { type RoleFacts, RoleMetrics, readMetricsPlace } from "../../lib/fleet/role-metrics.ts";
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
