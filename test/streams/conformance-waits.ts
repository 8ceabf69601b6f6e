/** The second half of the drivers' conformance suite: registers, aborted waits, fences, arguments. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StreamStore } from "../../lib/streams/index.ts";
import { ALL, append, bytes, type DriverUnderTest, HOUR_MS, type Place } from "./place.ts";

const LONG = { max: 1, waitMs: 60_000 };
const LEASED = { ...ALL, leaseMs: HOUR_MS };

export function waitsConform({ name, skipped, place: make }: DriverUnderTest): void {
  describe.skipIf(skipped !== undefined)(`registers and waits, ${name}`, () => {
    let place: Place;
    let a: StreamStore;
    let b: StreamStore;

    beforeEach(async () => {
      place = await make();
      a = await place.open();
      b = await place.open();
    });
    afterEach(() => place[Symbol.asyncDispose]());

    test("registers hold the last value", async () => {
      expect(await a.kv.get("x")).toBeUndefined();
      await a.kv.set("x", "1");
      await b.kv.set("x", "ü\n2");
      await b.kv.set("y", "");
      expect(await a.kv.get("x")).toBe("ü\n2");
      expect(await a.kv.get("y")).toBe("");
      await a.kv.set("actor/2", "b");
      await a.kv.set("actor/10", "a");
      expect([...(await b.kv.list("actor/"))]).toEqual([
        ["actor/10", "a"],
        ["actor/2", "b"],
      ]);
      expect(await a.kv.delete("x", "other")).toBe(false);
      expect(await a.kv.delete("x", "ü\n2")).toBe(true);
      expect(await a.kv.delete("x")).toBe(false);
      expect(await a.kv.delete("y")).toBe(true);
      expect((await b.kv.list("")).size).toBe(2);
    });

    test("compare and set: of many at once each counts, none is lost", async () => {
      expect(await a.kv.cas("n", "0", "1")).toBe(false);
      expect(await a.kv.cas("n", null, "0")).toBe(true);
      expect(await b.kv.cas("n", null, "5")).toBe(false);
      const increment = async (store: StreamStore): Promise<void> => {
        const seen = (await store.kv.get("n"))!;
        if (!(await store.kv.cas("n", seen, String(Number(seen) + 1)))) await increment(store);
      };
      await Promise.all(Array.from({ length: 20 }, (_, i) => increment(i % 2 ? a : b)));
      expect(await a.kv.get("n")).toBe("20");
    });

    test("a leased register has one holder until its time is over", async () => {
      expect(await a.kv.setLease("leader", "a", HOUR_MS)).toBe(true);
      expect(await b.kv.setLease("leader", "b", HOUR_MS)).toBe(false);
      expect(await b.kv.get("leader")).toBe("a");
      expect(await a.kv.setLease("leader", "a", 100)).toBe(true);
      await sleep(130);
      expect(await b.kv.get("leader")).toBeUndefined();
      expect((await b.kv.list("")).size).toBe(0);
      expect(await b.kv.setLease("leader", "b", 0)).toBe(true);
      expect(await a.kv.cas("leader", null, "a")).toBe(true);
      await sleep(20);
      expect(await a.kv.get("leader")).toBe("a"); // a value set by cas never expires
      expect(await b.kv.setLease("leader", "b", HOUR_MS)).toBe(false);
    });

    test("waitFor resolves with the value, now, later, or not at all", async () => {
      const late = a.kv.waitFor("x", { waitMs: 60_000 });
      await sleep(20);
      await b.kv.set("x", "1");
      expect(await late).toBe("1");
      expect(await a.kv.waitFor("x", { waitMs: 0 })).toBe("1");
      const changed = a.kv.waitFor("x", { waitMs: 60_000, not: "1" });
      await b.kv.cas("x", "1", "2");
      expect(await changed).toBe("2");
      const before = performance.now();
      expect(await a.kv.waitFor("never", { waitMs: 50 })).toBeUndefined();
      expect(performance.now() - before).toBeGreaterThanOrEqual(49);
    });

    test("a wait that is called off ends with HONE_ERR_ABORTED, and has taken nothing", async () => {
      const off = new AbortController();
      const { signal } = off;
      const waits = [
        a.lease("s", "g", { ...LONG, leaseMs: HOUR_MS, signal }),
        a.read("s", 0, { ...LONG, signal }),
        a.kv.waitFor("x", { waitMs: 60_000, signal }),
      ];
      const ends = Promise.allSettled(waits);
      await sleep(20);
      off.abort(new Error("enough"));
      for (const end of await ends)
        expect(end).toMatchObject({
          status: "rejected",
          reason: { code: "HONE_ERR_ABORTED", cause: { message: "enough" } },
        });
      await expect(a.lease("s", "g", { ...LEASED, signal })).rejects.toMatchObject({
        code: "HONE_ERR_ABORTED",
      });
      await append(a, "s", ["x"]);
      expect(await b.lease("s", "g", LEASED)).toMatchObject([{ key: "x", deliveries: 1 }]);
    });

    test("a lease that is renewed for less time goes to who waits when that is over", async () => {
      await append(a, "s", ["x"]);
      const [held] = await a.lease("s", "g", LEASED);
      const waits = b.lease("s", "g", { ...LONG, leaseMs: 50 });
      await sleep(20);
      expect(await a.renew(held!, 50)).toBe(true);
      const first = await Promise.race([waits, sleep(15_000, "it slept on", { ref: false })]);
      expect(first).toMatchObject([{ key: "x", deliveries: 2 }]);
    });

    test("closing ends what waits; afterwards every call is refused", async () => {
      const store = await place.open();
      const ends = Promise.allSettled([
        store.lease("s", "g", { ...LONG, leaseMs: HOUR_MS }),
        store.read("s", 0, LONG),
        store.kv.waitFor("x", { waitMs: 60_000 }),
      ]);
      await sleep(20);
      await store.close();
      await store.close();
      for (const end of await ends)
        expect(end).toMatchObject({ status: "rejected", reason: { code: "HONE_ERR_STATE" } });
      const calls = [
        () => store.append("s", "x", bytes("x")),
        () => store.kv.get("x"),
        () => store.depth("s"),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
    });

    test("a fence refuses the streams to a process that is out of date, and leaves it the registers", async () => {
      await a.kv.set("epoch", "1");
      const late = await place.open();
      late.fence("epoch", "1");
      await late.append("s", "x", bytes("x"));
      const [lease] = await late.lease("s", "g", LEASED);
      await a.kv.set("epoch", "2");
      const calls = [
        () => late.append("s", "y", bytes("y")),
        () => late.forward(lease!, "out", "x", bytes("x")),
        () => late.release(lease!, "done"),
        () => late.renew(lease!, 5),
        () => late.lease("s", "g", LEASED),
        () => late.pin("s", "c", 0),
        () => late.trim("s", 1),
      ];
      for (const call of calls)
        await expect(call()).rejects.toMatchObject({
          why: "fenced",
          message: 'this process is out of date: register epoch is "2", not "1"',
        });
      expect(await late.kv.get("epoch")).toBe("2");
      late.fence("epoch", "2");
      expect(await late.depth("s")).toMatchObject({ items: 1 });
      expect(await late.release(lease!, "done")).toBe(true);
      late.fence("other", "1");
      await expect(late.depth("s")).rejects.toMatchObject({ details: { found: 'is not set, not "1"' } });
      late.fence("epoch", "2");
    });

    test("what a process held that is out of date is freed at once, and wakes who waits; what others hold is not", async () => {
      await a.kv.set("epoch", "1");
      await append(a, "s", ["x"]);
      await append(a, "t", ["y", "z"]);
      const dead = await place.open();
      dead.fence("epoch", "1");
      const [x] = await dead.lease("s", "g", LEASED);
      const [y] = await dead.lease("t", "g", { ...LEASED, max: 1 });
      expect(await a.free("epoch", "lost"), "its epoch is still its own").toBe(0);
      expect(await dead.renew(x!, HOUR_MS)).toBe(true);
      await a.kv.set("epoch", "2");
      b.fence("epoch", "2");
      const [z] = await b.lease("t", "g", LEASED);
      const waiting = b.lease("s", "g", { ...LEASED, waitMs: 20_000 });
      expect(await b.free("another epoch", "lost")).toBe(0);
      expect(await b.free("epoc", "lost"), "a beginning of the name").toBe(0);
      expect(await b.free("epoch", "lost")).toBe(2);
      expect(await waiting).toMatchObject([{ key: "x", deliveries: 2 }]);
      expect(await b.lease("t", "g", LEASED)).toMatchObject([{ key: "y", deliveries: 2 }]);
      expect(await b.free("epoch", "lost")).toBe(0);
      expect(await b.renew(z!, HOUR_MS)).toBe(true);
      dead.fence("epoch", "2"); // a fence at the new value does not revive the leases either
      expect(await dead.renew(x!, HOUR_MS)).toBe(false);
      await expect(dead.forward(y!, "out", "y", bytes("late"))).rejects.toMatchObject({ why: "lease-lost" });
    });

    test("what is freed counts as delivered, or not; what nobody fenced holds is left alone", async () => {
      await append(a, "s", ["x", "y"]);
      const [x] = await a.lease("s", "g", { ...LEASED, max: 1 });
      const dead = await place.open();
      for (const [epoch, as, deliveries] of [
        ["0", "retry", 1],
        ["1", "lost", 1],
        ["2", "retry", 2],
        ["3", "retry", 2],
        ["4", "lost", 2],
        ["5", "retry", 3],
      ] as const) {
        await a.kv.set("epoch", epoch);
        dead.fence("epoch", epoch);
        const [y] = await dead.lease("s", "g", { ...LEASED, maxDeliveries: 3 });
        expect(y).toMatchObject({ key: "y", deliveries, isAgain: epoch !== "0" });
        await a.kv.delete("epoch"); // deleting a value counts as changing it
        dead.fence("epoch", (await a.kv.cas("epoch", null, "next")) ? "next" : "");
        expect(await dead.free("epoch", as)).toBe(1);
        expect(await dead.free("epoch", as), "it is nobody's by now").toBe(0);
        expect(await dead.release(y!, "done")).toBe(false);
      }
      expect(await dead.lease("s", "g", { ...LEASED, maxDeliveries: 3 })).toMatchObject([
        { deliveries: 3, isAgain: true },
      ]);
      await a.kv.delete("epoch");
      a.fence("other", "1");
      await a.kv.set("other", "1");
      expect(await a.free("epoch", "lost"), "the register is gone").toBe(1);
      expect(await a.lease("s", "g", { ...LEASED, maxDeliveries: 3 })).toEqual([]);
      expect(await a.depth("s")).toMatchObject({ dead: 1 });
      expect(await a.renew(x!, HOUR_MS)).toBe(true);
    });

    test.each([
      ["a stream's name", (s: StreamStore) => s.append("a b", "k", bytes(""))],
      ["a group's name", (s: StreamStore) => s.lease("s", "", LEASED)],
      ["a key", (s: StreamStore) => s.append("s", "", bytes(""))],
      ["half a character", (s: StreamStore) => s.append("s", "\ud800", bytes(""))],
      ["a payload", (s: StreamStore) => s.append("s", "k", "text" as unknown as Uint8Array)],
      ["a size", (s: StreamStore) => s.append("s", "k", bytes(""), { samples: 0.5, tokens: 0 })],
      ["no entries", (s: StreamStore) => s.read("s", 0, { max: 0, waitMs: 0 })],
      ["a cursor", (s: StreamStore) => s.read("s", -1, ALL)],
      ["a time", (s: StreamStore) => s.lease("s", "g", { ...ALL, leaseMs: Number.NaN })],
      ["a wait", (s: StreamStore) => s.read("s", 0, { max: 1, waitMs: Number.POSITIVE_INFINITY })],
      ["a register", (s: StreamStore) => s.kv.set("x".repeat(513), "")],
    ])("%s out of range is refused with HONE_ERR_USAGE", async (_, call) => {
      await expect(call(a)).rejects.toMatchObject({
        code: "HONE_ERR_USAGE",
        message: expect.stringMatching(/ is /),
      });
    });
  });
}
