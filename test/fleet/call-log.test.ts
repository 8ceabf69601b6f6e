import { expect, test } from "vitest";
import { CallLog, follow, LeasedWork } from "../../lib/fleet/call-log.ts";
import { SETTINGS } from "../../lib/fleet/names.ts";
import { deadLettersOf, openStore, type StreamStore } from "../../lib/streams/index.ts";

test("calls are appended in the order in which they were said, and lie there until all readers made a later one", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const log = new CallLog(store, "c", "r");
  const left = async () => (await store.depth("c")).items;
  const append = store.append.bind(store);
  store.append = async (...args) => {
    if (args[1] === "0") await new Promise((resolve) => setTimeout(resolve, 30)); // like a store that is asked again
    return append(...args);
  };
  await Promise.all([0, 1, 2, 3, 4].map((number) => log.say(number, Uint8Array.of(number))));
  const read = await store.read("c", 0, { max: 9, waitMs: 0 });
  expect(read.map(({ payload }) => payload[0])).toEqual([0, 1, 2, 3, 4]);
  await log.dropBefore(3);
  expect(await left()).toBe(2);
  await log.dropBefore(77);
  expect(await left()).toBe(2);
  const last = log.say(5, Uint8Array.of(5));
  await log.dropAll();
  await last;
  expect(await left(), "the last one was there before").toBe(0);
});

test("a call that the store refuses keeps none from coming after it", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const log = new CallLog(store, "c", "r");
  const append = store.append.bind(store);
  store.append = async (...args) => {
    if (args[1] === "0") throw new Error("full");
    return append(...args);
  };
  const first = log.say(0, Uint8Array.of(0));
  await log.say(1, Uint8Array.of(1));
  await expect(first).rejects.toThrow("full");
  expect((await store.read("c", 0, { max: 9, waitMs: 0 })).map(({ key }) => key)).toEqual(["1"]);
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
  const log = new CallLog(store, "r", "a");
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
  const log = new CallLog(store, "r", "a");
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

const workOf = (store: StreamStore, expectAlive = () => {}) =>
  new LeasedWork({ store, settings: SETTINGS, asked: "asked", group: "g", done: "done", expectAlive });
const entries = async (store: StreamStore, stream: string) =>
  (await store.read(stream, 0, { max: 9, waitMs: 0 })).map(({ key, payload }) => [key, ...payload]);

test("so many are leased as there is room for, and handed over under its key together with the end of its lease", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const work = workOf(store);
  for (const key of [1, 2]) await store.append("asked", String(key), Uint8Array.of(key), SIZE);
  const [lease, ...more] = await work.next(1);
  expect([lease!.key, more]).toEqual(["1", []]);
  expect(await work.renew(lease!)).toBe(true);
  await work.hand(lease!, Uint8Array.of(7), SIZE);
  expect(await entries(store, "done")).toEqual([["1", 7]]);
  expect((await store.depth("asked", { group: "g" })).items).toBe(1);
});

test("work whose lease another process holds is not handed over, without an error", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.append("asked", "1", Uint8Array.of(1), SIZE);
  const [lease] = await store.lease("asked", "g", { max: 1, leaseMs: 0, waitMs: 0 });
  const work = workOf(store);
  const [other] = await work.next(1);
  expect(other).toMatchObject({ key: "1", deliveries: 2 });
  await work.hand(lease!, Uint8Array.of(1), SIZE);
  expect(await work.renew(lease!)).toBe(false);
  expect(await entries(store, "done")).toEqual([]);
  await work.end(other!, { dead: "no use" });
  expect((await store.depth(deadLettersOf("asked"))).items).toBe(1);
});

test("waiting is interrupted, and who was taken for dead neither takes, keeps nor hands over anything", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const waiting = workOf(store);
  const none = waiting.next(1);
  waiting.interrupt();
  expect(await none).toEqual([]);
  await store.append("asked", "1", Uint8Array.of(1), SIZE);
  const [lease] = await store.lease("asked", "g", { max: 1, leaseMs: 60_000, waitMs: 0 });
  const work = workOf(store, () => {
    throw new Error("replaced");
  });
  await expect(work.hand(lease!, Uint8Array.of(1), SIZE)).rejects.toThrow("replaced");
  expect(() => work.renew(lease!)).toThrow("replaced");
  await store.release(lease!, "retry");
  await expect(work.next(1)).rejects.toThrow("replaced");
  expect(await entries(store, "done")).toEqual([]);
});
