import { expect, test } from "vitest";
import { DriverStore } from "../../lib/streams/driver-store.ts";
import type { StreamStore } from "../../lib/streams/index.ts";
import { MemoryDriver } from "../../lib/streams/memory.ts";
import { streamsConform } from "./conformance.ts";
import { waitsConform } from "./conformance-waits.ts";
import { ALL, append, type DriverUnderTest } from "./place.ts";

/** Stores over one driver; closing one leaves the driver open for the others. */
const memory: DriverUnderTest = {
  name: "memory",
  place: async () => {
    const driver = new MemoryDriver();
    const listeners = new Set<(topic: string) => void>();
    driver.onNews((topic) => {
      for (const tell of listeners) tell(topic);
    });
    return {
      open: async () =>
        new DriverStore({
          run: (name, args, fence) => driver.run(name, args, fence),
          pauseMs: driver.pauseMs,
          onNews: (tell) => void listeners.add(tell),
          close: async () => {},
        }),
      [Symbol.asyncDispose]: () => driver.close(),
    };
  },
};

streamsConform(memory);
waitsConform(memory);

test("leases and registers run out by the clock that is given", async () => {
  let now = 5;
  await using store: StreamStore = new DriverStore(new MemoryDriver({ now: () => now }));
  await append(store, "s", ["x"]);
  await store.lease("s", "g", { ...ALL, leaseMs: 100 });
  await store.kv.setLease("k", "v", 100);
  now = 104;
  expect(await store.lease("s", "g", { ...ALL, leaseMs: 100 })).toEqual([]);
  expect(await store.kv.get("k")).toBe("v");
  expect(await store.depth("s")).toMatchObject({ oldestMs: 99 });
  now = 105;
  expect(await store.lease("s", "g", { ...ALL, leaseMs: 100 })).toHaveLength(1);
  expect(await store.kv.get("k")).toBeUndefined();
});
