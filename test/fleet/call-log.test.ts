import { expect, test } from "vitest";
import { CallLog, follow, RequestLog } from "../../lib/fleet/call-log.ts";
import { STREAMS } from "../../lib/fleet/names.ts";
import { openStore } from "../../lib/streams/index.ts";
import { until } from "./small-engine.ts";

test("calls lie in the log of their epoch, in their order, until they are forgotten", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const failures: Error[] = [];
  const log = new CallLog(store, (error) => failures.push(error));
  const left = async (epoch: number) => (await store.depth(STREAMS.commands(epoch))).items;
  expect(log.epoch).toBe(0);
  log.begin(3);
  for (let number = 0; number < 5; number++) log.say(number, Uint8Array.of(number));
  await until(async () => (await left(3)) === 5, "all calls");
  const read = await store.read(STREAMS.commands(3), 0, { max: 9, waitMs: 0 });
  expect(read.map(({ payload }) => payload[0])).toEqual([0, 1, 2, 3, 4]);
  await log.forget(3);
  expect(await left(3)).toBe(2);
  await log.forget(77);
  log.begin(4);
  log.say(5, Uint8Array.of(5));
  await until(async () => (await left(4)) === 1, "a call of the next epoch");
  expect(await left(3)).toBe(0);
  expect(failures).toEqual([]);
});

test("what comes is handed over in its order, and dropped once 64 were read", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const off = new AbortController();
  const received: string[] = [];
  const receive = (key: string, payload: Uint8Array) => void received.push(`${key}=${payload[0]}`);
  const over = follow(store, "s", off.signal, { receive });
  const items = async () => (await store.depth("s")).items;
  for (let i = 0; i < 63; i++) await store.append("s", String(i), Uint8Array.of(i));
  await expect.poll(() => received.length).toBe(63);
  expect(await items()).toBe(63);
  await store.append("s", "63", Uint8Array.of(63));
  await expect.poll(items, { message: "those before the last one read" }).toBe(1);
  expect(received).toEqual(Array.from({ length: 64 }, (_, i) => `${i}=${i}`));
  off.abort();
  await over;
});

test("what the reader throws, and what the store says, ends it", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.append("s", "a", Uint8Array.of(1));
  const { signal } = new AbortController();
  const receive = () => {
    throw new Error("unreadable");
  };
  await expect(follow(store, "s", signal, { receive })).rejects.toThrow("unreadable");
  const lost = { read: () => Promise.reject(new Error("lost")) } as unknown as typeof store;
  await expect(follow(lost, "s", signal, { receive: () => {} })).rejects.toThrow("lost");
});

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
  expect(await left(), "requests 5 and 7 are not leased").toBe(2);
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
