import { expect, test } from "vitest";
import { LeasedWork } from "../../lib/fleet/leased-work.ts";
import { SETTINGS } from "../../lib/fleet/names.ts";
import { deadLettersOf, openStore, type StreamStore } from "../../lib/streams/index.ts";

const SIZE = { samples: 1, tokens: 0 };
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

test("what somebody else has by now is not handed over, and nobody is told of an error", async () => {
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
