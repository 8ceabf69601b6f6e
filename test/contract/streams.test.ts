/** A random sequence of operations gives the same results on every driver; the in-memory driver is the reference. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Lease, openStore, type StreamStore } from "../../lib/streams/index.ts";
import { ALL, bytes, type DriverUnderTest, HOUR_MS, text } from "../streams/place.ts";
import { noRedis, RedisServer, redisUnderTest } from "../streams/redis/redis-server.ts";
import { socketsUnderTest } from "../streams/socket/socket-place.ts";

/** A lease either never expires during a test or expires at once. */
const times = fc.constantFrom(0, HOUR_MS);
const streams = fc.constantFrom("s", "t");
const groups = fc.constantFrom("g", "h");
const keys = fc.constantFrom("a", "b", "c", "d", "e");
const size = fc.record({ samples: fc.nat(9), tokens: fc.nat(999) });
const which = fc.nat(30);
/** A register that never changes: a fence on it admits every writer. */
const ALWAYS = "always";

const operations = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("append" as const), stream: streams, key: keys, size }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("lease" as const),
      stream: streams,
      group: groups,
      max: fc.integer({ min: 1, max: 3 }),
      leaseMs: times,
      maxDeliveries: fc.integer({ min: 1, max: 3 }),
      under: fc.option(fc.record({ key: fc.constantFrom("a", "b"), value: fc.constantFrom("1", "2") })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("free" as const),
      key: fc.constantFrom("a", "b"),
      as: fc.constantFrom("lost" as const, "retry" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("renew" as const), which, leaseMs: times }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("forward" as const, "note" as const),
      which,
      stream: streams,
      key: keys,
      size,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("release" as const),
      which,
      end: fc.constantFrom("done" as const, "retry" as const, { dead: "given up" }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("pin" as const),
      stream: streams,
      name: fc.constantFrom("c1", "c2"),
      cursor: fc.option(fc.nat(8)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("trim" as const), stream: streams, before: fc.nat(9) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("read" as const), stream: streams, after: fc.nat(9) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("depth" as const),
      stream: streams,
      of: fc.option(fc.oneof(fc.record({ group: groups }), fc.record({ after: fc.nat(8) })), {
        nil: undefined,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("cas" as const),
      key: keys,
      expected: fc.option(fc.constantFrom("1", "2")),
      value: fc.constantFrom("1", "2"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), key: keys }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("setLease" as const),
      key: keys,
      value: fc.constantFrom("1", "2"),
      ttlMs: times,
    }),
  },
);
type Operation = typeof operations extends fc.Arbitrary<infer O> ? O : never;

/** Does the operation and returns its visible result, without tokens and times. */
async function observed(store: StreamStore, leases: Lease[], o: Operation): Promise<unknown> {
  const { kv } = store;
  const payload = bytes(JSON.stringify(o));
  const lease = "which" in o ? leases[o.which % Math.max(1, leases.length)] : undefined;
  switch (o.do) {
    case "append":
      return store.append(o.stream, o.key, payload, o.size);
    case "lease": {
      if (o.under !== null) store.fence(o.under.key, o.under.value);
      const leasing = store.lease(o.stream, o.group, { ...o, waitMs: 0 });
      store.fence(ALWAYS, "1");
      const found = await leasing;
      leases.push(...found);
      return found.map(({ token: _, payload: p, ...rest }) => ({ ...rest, text: text(p) }));
    }
    case "renew":
      return lease && store.renew(lease, o.leaseMs);
    case "forward":
      return lease && store.forward(lease, o.stream, o.key, payload, o.size);
    case "note":
      return lease && store.note(lease, o.stream, o.key, payload, o.size);
    case "release":
      return lease && store.release(lease, o.end);
    case "free":
      return store.free(o.key, o.as);
    case "pin":
      return store.pin(o.stream, o.name, o.cursor);
    case "trim":
      return store.trim(o.stream, o.before);
    case "read":
      return (await store.read(o.stream, o.after, ALL)).map((e) => ({ ...e, payload: text(e.payload) }));
    case "depth":
      return { ...(await store.depth(o.stream, o.of)), oldestMs: 0 };
    case "cas":
      return kv.cas(o.key, o.expected, o.value);
    case "delete":
      return kv.delete(o.key);
    case "setLease":
      return [await kv.setLease(o.key, o.value, o.ttlMs), [...(await kv.list(""))]];
  }
}

async function observations(store: StreamStore, sequence: readonly Operation[]): Promise<unknown[]> {
  const leases: Lease[] = [];
  const seen: unknown[] = [];
  await store.kv.set(ALWAYS, "1");
  for (const o of sequence) {
    const result = await observed(store, leases, o).catch((error) => `${error.code}: ${error.message}`);
    seen.push([o.do, result]);
  }
  for (const stream of ["s", "t", "s/dead", "t/dead"]) {
    seen.push([stream, { ...(await store.depth(stream)), oldestMs: 0 }]);
  }
  return seen;
}

let server: RedisServer;
beforeAll(async () => {
  if (noRedis === undefined) server = await RedisServer.start();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

describe.each<DriverUnderTest>([...socketsUnderTest, redisUnderTest(() => server)])(
  "$name",
  ({ skipped, place }) => {
    test.skipIf(skipped !== undefined)("does what the driver in memory does", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operations, { minLength: 5, maxLength: 40 }), async (sequence) => {
          await using model = await openStore("memory:", { run: "r" });
          await using here = await place();
          const store = await here.open();
          expect(await observations(store, sequence)).toEqual(await observations(model, sequence));
        }),
        { numRuns: 60 },
      );
    });
  },
);
