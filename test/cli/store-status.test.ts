import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { asTheStoreSays } from "../../lib/cli/store-status.ts";
import { OwnRedis } from "../../lib/fleet/local-store.ts";
import { REGISTERS } from "../../lib/fleet/names.ts";
import type { PipelineStatus } from "../../lib/metrics/index.ts";
import type { RunStatus } from "../../lib/runs/index.ts";
import { openStore, serveStore } from "../../lib/streams/index.ts";
import { Trust } from "../../lib/trust.ts";
import { patient } from "../patience.ts";
import { scratch } from "../runs/folders.ts";
import { noRedis } from "../streams/redis/redis-server.ts";

const row = (name: string) => ({ name, pid: 1, state: "alive" as const, restarts: 0, doing: "samples 3" });
const silent = (address: string): RunStatus => ({
  dir: "runs/x",
  name: "x",
  steps: 1,
  ofSteps: 2,
  state: "silent",
  asOfMs: 0,
  line: { store: { address, run: "run-1" } } as PipelineStatus,
  processes: [row("run"), row("actor.0"), row("actor.1"), row("verifier.0"), row("verifier.1")],
});

test("where the run is silent its store says which actors and verifier hosts live", async () => {
  const address = `unix:${join(scratch(), "s.sock")}`;
  await using store = await serveStore(address, { run: "run-1" });
  await store.kv.setLease(REGISTERS.beat("actor.1"), "actor.1#2", 60_000);
  await store.kv.set(
    REGISTERS.status("actor.1"),
    JSON.stringify({ member: "actor.1#2", pid: 1, engines: {} }),
  );
  await store.kv.setLease(REGISTERS.beat("verifier.0"), "verifier.0#1", 60_000);
  await store.kv.set(REGISTERS.status("verifier.0"), JSON.stringify({ member: "verifier.0#1", engines: {} }));
  const { processes } = await asTheStoreSays(silent(address));
  expect(processes.map(({ state }) => state)).toEqual(["silent", "silent", "alive", "alive", "silent"]);
});

test("the run's own pool sends the store no heartbeats, and stays as the run saw it", async () => {
  const address = `unix:${join(scratch(), "s.sock")}`;
  await using _ = await serveStore(address, { run: "run-1" });
  const pooled = { ...row("verifier.0"), pooled: true as const };
  const { processes } = await asTheStoreSays({ ...silent(address), processes: [row("actor.0"), pooled] });
  expect(processes).toMatchObject([{ state: "silent" }, pooled]);
  const gone = silent(`unix:${join(scratch(), "none.sock")}`);
  expect((await asTheStoreSays({ ...gone, processes: [pooled] })).processes).toEqual([pooled]);
});

test("where the store is gone that is said of its actors, and a run that speaks is believed", async () => {
  const status = silent(`unix:${join(scratch(), "none.sock")}`);
  const { processes } = await asTheStoreSays(status);
  expect(processes[1]).toMatchObject({
    state: "silent",
    doing: expect.stringMatching(/^the store: unix:.*none.sock: no process serves it$/),
  });
  const running: RunStatus = { ...status, state: "running" };
  expect(await asTheStoreSays(running)).toBe(running);
});

test("a server that the folder names is not asked, and gets no password, unless it is trusted", async () => {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on("data", (bytes) => asked.push(String(bytes)));
    socket.on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubEnv("HONE_REDIS_PASSWORD", "hunter2");
  const { processes } = await asTheStoreSays(silent(address));
  expect(processes[1]!.doing).toBe(
    `its store, ${address}, is contacted only with --store <address> or --trust`,
  );
  expect(asked).toEqual([]);
  void asTheStoreSays(silent(address), undefined, Trust.all).catch(() => {});
  await expect.poll(() => asked.join(""), { timeout: patient(10_000) }).toContain("hunter2"); // with --trust the password is sent
  vi.unstubAllEnvs();
  server.close();
});

test.skipIf(noRedis !== undefined)(
  "a server at a Unix socket is asked without trust, and gets no password",
  async () => {
    vi.stubEnv("HONE_REDIS_PASSWORD", "hunter2");
    const dir = mkdtempSync(join(tmpdir(), "hone-status-"));
    try {
      await using server = await OwnRedis.start(dir);
      await using store = await openStore(server.url, { run: "run-1" });
      await store.kv.setLease(REGISTERS.beat("actor.1"), "actor.1#2", 60_000);
      const word = { member: "actor.1#2", pid: 1, engines: {} };
      await store.kv.set(REGISTERS.status("actor.1"), JSON.stringify(word));
      const { processes } = await asTheStoreSays(silent(server.url));
      expect(processes.map(({ state }) => state)).toEqual(["silent", "silent", "alive", "silent", "silent"]);
    } finally {
      vi.unstubAllEnvs();
      rmSync(dir, { recursive: true, force: true });
    }
  },
  patient(60_000),
);
