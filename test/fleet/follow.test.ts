import { expect, test } from "vitest";
import { follow } from "../../lib/fleet/follow.ts";
import { openStore } from "../../lib/streams/index.ts";

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
