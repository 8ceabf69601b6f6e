import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { DriverStore } from "../../lib/streams/driver-store.ts";
import { MemoryDriver } from "../../lib/streams/memory.ts";
import { append } from "./place.ts";

/** A store that counts the calls of its driver. */
function watched() {
  const driver = new MemoryDriver();
  const done: string[] = [];
  const store = new DriverStore({
    run: (name, args, fence) => {
      done.push(name);
      return driver.run(name, args, fence);
    },
    pauseMs: driver.pauseMs,
    onNews: (tell) => driver.onNews(tell),
    close: () => driver.close(),
  });
  return { store, looks: (name: string) => done.filter((each) => each === name).length };
}

const WAITING = { max: 4, waitMs: 60_000 };

test("a reader that has had all looks at the stream again when there is news, and not before", async () => {
  const { store, looks } = watched();
  await append(store, "s", ["a", "b"]);
  expect(await store.read("s", 0, WAITING)).toHaveLength(2);
  const next = store.read("s", 2, WAITING);
  await pause(20);
  expect(looks("read")).toBe(1);
  await append(store, "s", ["c"]);
  expect(await next).toMatchObject([{ key: "c" }]);
  expect(looks("read")).toBe(2);
  // the store remembers only one position, so it reads again for others
  expect(await store.read("s", 0, WAITING)).toHaveLength(3);
  expect(await store.read("s", 3, { max: 1, waitMs: 0 })).toEqual([]);
  expect(looks("read")).toBe(4);
  await store.close();
});

test("a reader that may not have had all looks at once", async () => {
  const { store } = watched();
  // aborts a read that waits, after this time
  const soon = { ...WAITING, signal: AbortSignal.timeout(5_000) };
  await append(store, "s", ["a", "b"]);
  expect(await store.read("s", 0, { ...soon, max: 1 })).toHaveLength(1);
  expect(await store.read("s", 1, { ...soon, max: 1 })).toMatchObject([{ key: "b" }]);
  await append(store, "s", ["c"]);
  expect(await store.read("s", 2, soon)).toMatchObject([{ key: "c" }]); // appended between two reads
  await store.close();
});

test("a group that has leased all looks again when there is news, or when a lease runs out", async () => {
  const { store, looks } = watched();
  await append(store, "s", ["a"]);
  const [lease] = await store.lease("s", "g", { ...WAITING, leaseMs: 60_000 });
  const next = store.lease("s", "g", { ...WAITING, leaseMs: 60 });
  await pause(20);
  expect(looks("lease")).toBe(1);
  const begun = performance.now();
  await store.release(lease!, "retry");
  expect(await next).toMatchObject([{ key: "a" }]);
  expect(looks("lease")).toBe(2);
  expect(await store.lease("s", "g", { ...WAITING, leaseMs: 60 })).toMatchObject([
    { key: "a", deliveries: 2 },
  ]);
  expect(performance.now() - begun).toBeGreaterThan(55);
  await store.close();
});

test("a store that is given up ends every call, of streams and registers, with the reason", async () => {
  const driver = new MemoryDriver();
  let hangs = false;
  const store = new DriverStore({
    run: (name, args, fence) => (hangs ? new Promise(() => {}) : driver.run(name, args, fence)),
    pauseMs: driver.pauseMs,
    onNews: (tell) => driver.onNews(tell),
    close: () => driver.close(),
  });
  const waiting = store.read("s", 0, WAITING).catch((error) => error);
  await pause(20);
  hangs = true;
  const asked = [store.kv.get("x"), store.depth("s")].map((call) => call.catch((error) => error));
  const why = new HoneError("HONE_ERR_IO", "the server is gone");
  store.abandon(why);
  expect(await Promise.all([waiting, ...asked])).toEqual([why, why, why]);
  await expect(store.kv.set("x", "1")).rejects.toBe(why);
  await expect(store.read("s", 0, WAITING)).rejects.toBe(why);
});
