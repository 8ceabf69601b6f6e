import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OwnRedis } from "../../lib/fleet/own-redis.ts";
import { openStore } from "../../lib/streams/index.ts";
import { patient } from "../patience.ts";
import { freePort, noRedis } from "../streams/redis/redis-server.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-own-redis-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.skipIf(noRedis !== undefined)(
  "what it has answered for survives its death; disposed it is gone",
  async () => {
    const server = await OwnRedis.start(dir);
    const store = await openStore(server.url, { run: "run-1" });
    for (let i = 0; i < 5; i++) await store.append("s", String(i), Uint8Array.of(i));
    await server.restart(100);
    expect((await store.read("s", 0, { max: 9, waitMs: 0 })).map(({ key }) => key)).toEqual([
      "0",
      "1",
      "2",
      "3",
      "4",
    ]);
    await store.close();
    await server[Symbol.asyncDispose]();
    const { port, hostname: host } = new URL(server.url);
    await expect(once(connect(Number(port), host), "connect")).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
  },
  patient(60_000),
);

test.skipIf(noRedis !== undefined)(
  "an interrupt from the terminal does not reach it: it is in a process group of its own",
  async () => {
    await using _ = await OwnRedis.start(dir);
    const pid = readFileSync(join(dir, "redis.pid"), "utf8").trim();
    const groupOf = (id: string) => readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1]!.split(" ")[2];
    expect(groupOf(pid)).toBe(pid);
    expect(groupOf("self")).not.toBe(pid);
  },
  patient(60_000),
);

test("where there is none that is said, with what to install", async () => {
  vi.stubEnv("PATH", dir);
  try {
    await expect(OwnRedis.start(join(dir, "data"))).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining("apt-get install redis-server"),
    });
  } finally {
    vi.unstubAllEnvs();
  }
});

test.skipIf(noRedis !== undefined)(
  "a port that somebody else took meanwhile is not the last one tried",
  async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const ports = [port, 0]; // 0: the one that is free, as without this test
    await using server = await OwnRedis.start(dir, async () => ports.shift() || freePort());
    expect([ports, server.url.endsWith(`:${port}`)]).toEqual([[], false]);
    await expect(OwnRedis.start(dir, async () => port)).rejects.toThrow(/ddress already in use/);
    taken.close();
  },
  patient(60_000),
);
