// Uses a Redis server whose clock is set while it runs, as by NTP, an operator or a migration of its virtual machine.
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../../../lib/streams/index.ts";
import { ALL, append } from "../place.ts";
import { noRedis, RedisServer } from "./redis-server.ts";

const SHIM = fileURLToPath(new URL("../../fixtures/clock-shim.c", import.meta.url));
const HOUR = 3600;

const dir = mkdtempSync(join(tmpdir(), "hone-redis-clock-"));
const shim = join(dir, "clock-shim.so");
const compiled = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", shim, SHIM, "-ldl"], { encoding: "utf8" });
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const noShim = compiled.status === 0 ? undefined : "no C compiler for the clock shim";

describe.skipIf(noRedis !== undefined || noShim !== undefined)("a Redis server's clock", () => {
  const offset = join(dir, "offset");
  let server: RedisServer;
  /** Sets the server's clock, which differs from this machine's. */
  const setClock = async (seconds: number) => {
    const file = openSync(offset, "r+");
    writeSync(file, new BigInt64Array([BigInt(seconds)]), 0, 8, 0);
    closeSync(file);
    const asked = spawnSync("redis-cli", ["-p", String(server.port), "TIME"], { encoding: "utf8" });
    expect(Math.abs(Number(asked.stdout.split("\n")[0]) - Date.now() / 1000 - seconds)).toBeLessThan(60);
  };
  beforeAll(async () => {
    writeFileSync(offset, new Uint8Array(8));
    server = await RedisServer.start([], undefined, { LD_PRELOAD: shim, CLOCK_OFFSET: offset });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test("that is set forth ends neither a lease nor a register, and set back again neither", async () => {
    await using store = await openStore(server.url, { run: "forth" });
    await append(store, "s", ["x"]);
    await setClock(0);
    const [held] = await store.lease("s", "g", { ...ALL, leaseMs: 60_000 });
    await store.kv.setLease("alive", "me", 60_000);
    for (const seconds of [HOUR, 3 * HOUR, -HOUR, 0]) {
      await setClock(seconds);
      expect(await store.kv.get("alive")).toBe("me");
      expect(await store.lease("s", "g", { ...ALL, leaseMs: 60_000 })).toEqual([]);
      expect(await store.renew(held!, 60_000)).toBe(true);
      const { oldestMs } = await store.depth("s", { group: "g" });
      expect(oldestMs).toBeLessThan(60_000);
    }
  });

  test("that is set back keeps nothing longer than it was leased for", async () => {
    await using store = await openStore(server.url, { run: "back" });
    await append(store, "s", ["x"]);
    await setClock(HOUR);
    await store.kv.setLease("alive", "dead", 300); // expires no later than the lease below
    await store.lease("s", "g", { ...ALL, leaseMs: 300 });
    await setClock(-HOUR);
    const [again] = await store.lease("s", "g", { ...ALL, leaseMs: 60_000, waitMs: 60_000 });
    expect(again).toMatchObject({ key: "x", deliveries: 2 });
    expect(await store.kv.get("alive")).toBeUndefined();
  });

  test("a lease runs out for whoever waits, however long it was, and not while nobody asks", async () => {
    await using store = await openStore(server.url, { run: "long" });
    await append(store, "s", ["x"]);
    await setClock(0);
    const begun = performance.now();
    await store.lease("s", "g", { ...ALL, leaseMs: 2_500 });
    const [again] = await store.lease("s", "g", { ...ALL, leaseMs: 2_300, waitMs: 60_000 });
    expect(again).toMatchObject({ deliveries: 2 });
    expect(performance.now() - begun).toBeGreaterThan(2_450);
    await pause(2_800);
    expect(await store.lease("s", "g", { ...ALL, leaseMs: 60_000 })).toEqual([]);
    expect(await store.renew(again!, 60_000)).toBe(true);
  });
});
