/** The conformance suite of streams, run over each driver (test/streams/*.test.ts). */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deadLettersOf, type Lease, type StreamStore } from "../../lib/streams/index.ts";
import { ALL, append, bytes, type DriverUnderTest, HOUR_MS, numbered, type Place, text } from "./place.ts";

const LEASED = { ...ALL, leaseMs: HOUR_MS };

export function streamsConform({ name, skipped, place: make }: DriverUnderTest): void {
  describe.skipIf(skipped !== undefined)(`streams, ${name}`, () => {
    let place: Place;
    let a: StreamStore;
    let b: StreamStore;

    beforeEach(async () => {
      place = await make();
      a = await place.open();
      b = await place.open();
    });
    afterEach(() => place[Symbol.asyncDispose]());

    test("an append of a key is one append, however often and from wherever it is repeated", async () => {
      expect(await a.append("s", "x", bytes("first"))).toBe(1);
      const again = Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).append("s", "x", bytes("second")));
      expect(new Set(await Promise.all(again))).toEqual(new Set([1]));
      const fresh = Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).append("s", "y", bytes("y")));
      expect(new Set(await Promise.all(fresh))).toEqual(new Set([2]));
      expect((await b.read("s", 0, ALL)).map(({ payload }) => text(payload))).toEqual(["first", "y"]);
      expect(await a.append("other", "x", bytes("z"))).toBe(1);
    });

    test("offsets, readers and lessees follow the order of appends", async () => {
      const keys = numbered(50);
      expect(await append(a, "s", keys)).toEqual(keys.map((_, i) => i + 1));
      expect((await b.read("s", 0, ALL)).map(({ key }) => key)).toEqual(keys);
      const leased: string[] = [];
      for (const [i, max] of [1, 7, 20, 100].entries())
        leased.push(...(await (i % 2 ? a : b).lease("s", "g", { ...LEASED, max })).map(({ key }) => key));
      expect(leased).toEqual(keys);
    });

    test("a payload is what it was at the append, and nobody else's", async () => {
      const payloads = [bytes("abc"), Buffer.from("abc")]; // Buffer.slice() does not copy
      for (const [i, payload] of payloads.entries()) {
        await a.append("s", `x${i}`, payload);
        payload.fill(0);
      }
      for (const { payload } of await a.read("s", 0, ALL)) payload.fill(1);
      const leased = await a.lease("s", "g", LEASED);
      expect(leased.map(({ payload }) => text(payload))).toEqual(["abc", "abc"]);
    });

    test("a payload of 2 MB, and an empty one, come back to the bit", async () => {
      const large = randomBytes(2 << 20);
      await a.append("s", "large", large);
      await a.append("s", "empty", new Uint8Array(0));
      const [first, second] = await b.lease("s", "g", LEASED);
      expect(Buffer.compare(first!.payload, large)).toBe(0);
      expect(second!.payload).toHaveLength(0);
      await b.forward(first!, "out", "large", first!.payload);
      const [forwarded] = await a.read("out", 0, ALL);
      expect(Buffer.compare(forwarded!.payload, large)).toBe(0);
    });

    test("an entry whose lease ran out goes to another reader, and is no more the first one's", async () => {
      await append(a, "s", ["x"]);
      const [first] = await a.lease("s", "g", { ...ALL, leaseMs: 30 });
      expect(first).toMatchObject({ deliveries: 1, isAgain: false });
      const [again] = await b.lease("s", "g", { ...LEASED, waitMs: 20_000 });
      expect(again).toMatchObject({
        key: "x",
        offset: 1,
        deliveries: 2,
        isAgain: true,
        payload: first!.payload,
      });
      expect(await a.renew(first!, HOUR_MS)).toBe(false);
      for (const end of ["done", "retry", { dead: "mine" }] as const)
        expect(await a.release(first!, end)).toBe(false);
      await expect(a.forward(first!, "out", "x", bytes("late"))).rejects.toMatchObject({
        code: "HONE_ERR_STREAM",
        why: "lease-lost",
      });
      expect(await a.depth("out")).toMatchObject({ items: 0 });
      expect(await b.forward(again!, "out", "x", bytes("in time"))).toBe(1);
    });

    test("a lease that ran out and that nobody else took is still its reader's", async () => {
      await append(a, "s", ["x", "y"]);
      const [x, y] = await a.lease("s", "g", { ...ALL, leaseMs: 0 });
      expect(await a.renew(x!, HOUR_MS)).toBe(true);
      expect(await a.forward(y!, "out", "y", y!.payload)).toBe(1);
      expect(await b.lease("s", "g", LEASED)).toEqual([]);
    });

    test("a lease that is renewed goes to nobody else", async () => {
      await append(a, "s", ["x"]);
      const [lease] = await a.lease("s", "g", { ...ALL, leaseMs: 200 });
      expect(await a.renew(lease!, HOUR_MS)).toBe(true);
      await sleep(250);
      expect(await b.lease("s", "g", LEASED)).toEqual([]);
      expect(await a.release(lease!, "done")).toBe(true);
      expect(await a.release(lease!, "done")).toBe(false);
    });

    test("what is to be tried again comes at once, before newer entries, and wakes who waits", async () => {
      await append(a, "s", ["x", "y"]);
      const [x] = await a.lease("s", "g", { ...LEASED, max: 1 });
      expect(await a.release(x!, "retry")).toBe(true);
      expect(await a.renew(x!, HOUR_MS)).toBe(false);
      const leases = await b.lease("s", "g", LEASED);
      expect(leases.map(({ key }) => key)).toEqual(["x", "y"]);
      const waiting = a.lease("s", "g", { ...LEASED, waitMs: 20_000 });
      await b.release(leases[1]!, "retry");
      expect(await waiting).toMatchObject([{ key: "y" }]);
    });

    test("what is given back was not delivered: however often, it is no dead letter", async () => {
      await append(a, "s", ["x"]);
      await a.lease("s", "g", { ...ALL, leaseMs: 0 });
      for (let i = 0; i < 12; ++i) {
        const [lease] = await a.lease("s", "g", { ...LEASED, maxDeliveries: 2 });
        expect(lease).toMatchObject({ key: "x", deliveries: 2 });
        expect(await a.release(lease!, "retry")).toBe(true);
      }
      await a.lease("s", "g", { ...ALL, leaseMs: 0, maxDeliveries: 2 });
      expect(await b.lease("s", "g", { ...LEASED, maxDeliveries: 2 })).toEqual([]);
      expect(await a.depth("s")).toMatchObject({ dead: 1 });
    });

    test("what a reader notes is kept while the entry is its own, and nothing once it is another's", async () => {
      await append(a, "s", ["x"]);
      const [first] = await a.lease("s", "g", { ...ALL, leaseMs: 0 });
      const note = (store: StreamStore, lease: typeof first, key: string) =>
        store.note(lease!, "notes", key, bytes(key), { samples: 1, tokens: 8 });
      await note(a, first, "1");
      await note(a, first, "1");
      const [next] = await b.lease("s", "g", LEASED);
      expect(next).toMatchObject({ key: "x", deliveries: 2 });
      await expect(note(a, first, "2")).rejects.toMatchObject({ why: "lease-lost" });
      await note(b, next, "3");
      expect((await a.read("notes", 0, ALL)).map(({ key }) => key)).toEqual(["1", "3"]);
      expect(await a.depth("notes")).toMatchObject({ items: 2, samples: 2, tokens: 16 });
      expect(await b.forward(next!, "out", "x", bytes("end"))).toBe(1);
      await expect(note(b, next, "4")).rejects.toMatchObject({ why: "lease-lost" });
    });

    test("forward finishes and appends, both or neither", async () => {
      await append(a, "s", ["x", "y"]);
      const [x, y] = await a.lease("s", "g", LEASED);
      expect(await b.forward(x!, "out", "k", bytes("x"), { samples: 2, tokens: 30 })).toBe(1);
      expect(await a.forward(x!, "out", "k", bytes("x"))).toBeNull();
      expect(await b.forward(y!, "out", "k", bytes("y"))).toBeNull();
      expect(await a.release(y!, "done")).toBe(false);
      expect(await a.depth("s", { group: "g" })).toMatchObject({ items: 0 });
      expect((await a.read("out", 0, ALL)).map(({ payload }) => text(payload))).toEqual(["x"]);
      expect(await a.depth("out")).toMatchObject({ items: 1, samples: 2, tokens: 30 });
    });

    test("every group gets every entry, whatever the others do", async () => {
      await append(a, "s", ["x", "y"]);
      const [x] = await a.lease("s", "g", LEASED);
      await a.release(x!, "done");
      const keys = (leases: readonly Lease[]) => leases.map(({ key }) => key);
      expect(keys(await b.lease("s", "h", LEASED))).toEqual(["x", "y"]);
    });

    test("a cursor reads the same entries in the same order, twice", async () => {
      await append(a, "s", numbered(30));
      const everything = async (store: StreamStore, page: number) => {
        const found = [];
        for (let after = 0; ; ) {
          const entries = await store.read("s", after, { max: page, waitMs: 0 });
          if (entries.length === 0) return found;
          found.push(...entries);
          after = entries.at(-1)!.offset;
        }
      };
      const once = await everything(a, 7);
      expect(once.map(({ offset }) => offset)).toEqual(numbered(30).map((_, i) => i + 1));
      expect(await everything(b, 11)).toEqual(once);
      expect(await a.read("s", 28, ALL)).toEqual(once.slice(28));
    });

    test("a reader, and a lessee, are woken by an append from elsewhere", async () => {
      const reading = a.read("s", 0, { max: 5, waitMs: 20_000 });
      const leasing = b.lease("s", "g", { ...LEASED, waitMs: 20_000 });
      await sleep(20);
      await b.append("s", "x", bytes("x"));
      expect((await reading).map(({ key }) => key)).toEqual(["x"]);
      expect((await leasing).map(({ key }) => key)).toEqual(["x"]);
      expect(await a.read("s", 1, { max: 5, waitMs: 20 })).toEqual([]);
    });

    test("no cursor skips entries: neither trimmed ones nor those of a store that fell back", async () => {
      await append(a, "s", numbered(10));
      expect(await a.trim("s", 5)).toBe(4);
      expect((await b.read("s", 4, ALL)).map(({ offset }) => offset)).toEqual([5, 6, 7, 8, 9, 10]);
      const early = [() => b.read("s", 3, ALL), () => b.pin("s", "old", 3), () => b.depth("s", { after: 3 })];
      for (const call of early)
        await expect(call()).rejects.toMatchObject({ why: "trimmed", details: { found: "4" } });
      await expect(b.read("s", 11, ALL)).rejects.toMatchObject({ why: "ahead", details: { found: "10" } });
      expect((await b.lease("s", "new", LEASED)).map(({ offset }) => offset)).toEqual([5, 6, 7, 8, 9, 10]);
    });

    test("trim refuses to pass a checkpoint's cursor and what a group has not finished", async () => {
      await append(a, "s", numbered(10));
      await a.pin("s", "step-5", 3);
      await b.pin("s", "step-9", 6);
      await expect(a.trim("s", 5)).rejects.toMatchObject({
        why: "held",
        message: "stream s cannot be trimmed: checkpoint step-5 still needs entry 4",
      });
      expect(await a.depth("s")).toMatchObject({ items: 10 });
      expect(await a.trim("s", 4)).toBe(3);
      await a.pin("s", "step-5", null);
      const [lease] = await a.lease("s", "g", { ...LEASED, max: 2 });
      await expect(b.trim("s", 5)).rejects.toMatchObject({
        message: expect.stringContaining("group g still needs entry 4"),
      });
      await a.release(lease!, "done");
      expect(await b.trim("s", 5)).toBe(1);
      await expect(b.trim("s", 6)).rejects.toMatchObject({ why: "held" });
      expect(await b.trim("s", 2)).toBe(0);
    });

    test("keys are kept as long as their entries", async () => {
      await append(a, "s", ["x", "y"]);
      await a.trim("s", 2);
      expect(await a.append("s", "y", bytes("y"))).toBe(2);
      expect(await a.append("s", "x", bytes("x"))).toBe(3);
      expect(await a.trim("s", 100)).toBe(2);
      expect(await a.depth("s")).toMatchObject({ items: 0, oldestMs: 0 });
      expect(await a.append("s", "x", bytes("x"))).toBe(4);
    });

    test("depth counts items, samples and tokens of all, of a group, and behind a cursor", async () => {
      for (const [i, key] of numbered(5).entries())
        await a.append("s", key, bytes(key), { samples: i, tokens: 10 ** i });
      expect(await b.depth("s")).toMatchObject({ items: 5, samples: 10, tokens: 11111 });
      expect(await b.depth("s", { after: 3 })).toMatchObject({ items: 2, samples: 7, tokens: 11000 });
      const [, second] = await a.lease("s", "g", { ...LEASED, max: 3 });
      await a.release(second!, "done");
      expect(await b.depth("s", { group: "g" })).toMatchObject({ items: 4, samples: 9, tokens: 11101 });
      expect(await b.depth("s", { group: "unknown" })).toMatchObject({ items: 5 });
      await sleep(50);
      const { oldestMs } = await b.depth("s", { group: "g" });
      expect(oldestMs).toBeGreaterThanOrEqual(45);
      expect(oldestMs).toBeLessThan(HOUR_MS);
      expect(await b.depth("nothing")).toEqual({ items: 0, samples: 0, tokens: 0, oldestMs: 0, dead: 0 });
    });

    test("what is given up is a dead letter with its reason, counted", async () => {
      await a.append("s", "x", bytes("poison"), { samples: 1, tokens: 7 });
      const [lease] = await a.lease("s", "g", LEASED);
      expect(await a.release(lease!, { dead: "no readable message" })).toBe(true);
      expect(await b.lease("s", "g", LEASED)).toEqual([]);
      expect(await b.read(deadLettersOf("s"), 0, ALL)).toEqual([
        { offset: 1, key: "g/1/x", payload: lease!.payload, reason: "no readable message" },
      ]);
      expect(await b.depth("s")).toMatchObject({ items: 1, dead: 1 });
      expect(await b.depth(deadLettersOf("s"))).toMatchObject({ items: 1, samples: 1, tokens: 7 });
    });

    test("what every reader dies of is a dead letter after so many deliveries", async () => {
      await append(a, "s", ["bad", "good"]);
      const lost = { ...ALL, max: 1, leaseMs: 0, maxDeliveries: 3 };
      const seen = [];
      for (let i = 0; i < 3; ++i) seen.push(...(await a.lease("s", "g", lost)));
      expect(seen.map(({ key, deliveries }) => [key, deliveries])).toEqual([
        ["bad", 1],
        ["bad", 2],
        ["bad", 3],
      ]);
      expect((await b.lease("s", "g", { ...LEASED, maxDeliveries: 3 })).map(({ key }) => key)).toEqual([
        "good",
      ]);
      expect((await b.read(deadLettersOf("s"), 0, ALL)).map(({ key, reason }) => [key, reason])).toEqual([
        ["g/1/bad", "delivered 3 times and never finished"],
      ]);
      expect(await a.depth("s", { group: "g" })).toMatchObject({ items: 1, dead: 1 });
    });

    test("many consumers: every entry once, none twice", async () => {
      const keys = numbered(200);
      const taken: string[] = [];
      const consumer = async (store: StreamStore) => {
        while (taken.length < keys.length) {
          const leases = await store.lease("s", "g", { max: 3, leaseMs: HOUR_MS, waitMs: 100 });
          for (const lease of leases) {
            taken.push(lease.key);
            await store.release(lease, "done");
          }
        }
      };
      const consumers = Array.from({ length: 8 }, (_, i) => consumer(i % 2 ? a : b));
      await append(a, "s", keys);
      await Promise.all(consumers);
      expect(taken.toSorted()).toEqual(keys.toSorted());
    });

    test("a producer that admits by depth is held back by a slow consumer, and nothing is dropped", async () => {
      const [most, count] = [4, 24];
      const depths: number[] = [];
      let heldBack = 0;
      const arrived: string[] = [];
      const consume = async () => {
        while (arrived.length < count) {
          const [lease] = await b.lease("s", "g", { max: 1, leaseMs: HOUR_MS, waitMs: 5000 });
          await sleep(5);
          arrived.push(lease!.key);
          await b.release(lease!, "done");
        }
      };
      const consumer = consume();
      for (const key of numbered(count)) {
        while ((await a.depth("s", { group: "g" })).samples >= most) {
          heldBack += 1;
          await sleep(2);
        }
        await a.append("s", key, bytes(key), { samples: 1, tokens: 1 });
        depths.push((await a.depth("s", { group: "g" })).items);
      }
      await consumer;
      expect(Math.max(...depths)).toBeLessThanOrEqual(most);
      expect(heldBack).toBeGreaterThan(0);
      expect(arrived).toEqual(numbered(count));
    });
  });
}
