import { expect, test } from "vitest";
import { RequestLog } from "../../lib/fleet/request-log.ts";
import { openStore } from "../../lib/streams/index.ts";

const SIZE = { samples: 1, tokens: 1 };

test("what was answered leaves the store, but nothing behind one under way, and nothing that an actor has", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const log = new RequestLog(store, "r", "a");
  const left = async () => (await store.depth("r")).items;
  for (let number = 0; number < 6; number++) await log.append(number, Uint8Array.of(number), SIZE);
  const leases = await store.lease("r", "actors", { max: 5, leaseMs: 60_000, waitMs: 0 });
  for (const number of [0, 1, 3, 4]) log.end(number);
  for (const i of [0, 3, 4]) await store.release(leases[i]!, "done");
  await log.trim();
  expect(await left(), "request 1 is still an actor's").toBe(6);
  await store.release(leases[1]!, "done");
  await log.trim();
  expect(await left(), "request 2 is under way").toBe(4);
  await store.release(leases[2]!, "done");
  log.end(2);
  log.end(7);
  await log.append(7, Uint8Array.of(7), SIZE);
  await log.trim();
  expect(await left(), "requests 5 and 7 were given to nobody").toBe(2);
});

test("answers are handed over in their order, and those that were leave the store, many at a time", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const log = new RequestLog(store, "r", "a");
  const off = new AbortController();
  const received: string[] = [];
  let told = 0;
  const over = log.follow(
    off.signal,
    (key) => void received.push(key),
    async () => void told++,
  );
  const keys = Array.from({ length: 70 }, (_, i) => String(i));
  for (const key of keys) await store.append("a", key, Uint8Array.of(1));
  await expect.poll(() => received.length).toBe(70);
  await expect.poll(async () => (await store.depth("a")).items).toBeLessThanOrEqual(7);
  expect(received).toEqual(keys);
  expect(told).toBe(1);
  off.abort();
  await over;
});
