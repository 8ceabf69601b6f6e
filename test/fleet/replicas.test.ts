import { expect, test } from "vitest";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { endSilent, joiningRanks, nextGeneration } from "../../lib/fleet/replicas.ts";
import type { Roster } from "../../lib/fleet/roster.ts";
import type { Supervisor } from "../../lib/fleet/supervisor.ts";
import { openStore } from "../../lib/streams/index.ts";

test("each process of a place has the next number, and the one before is alive no more", async () => {
  await using store = await openStore("memory:", { run: "test" });
  expect(await nextGeneration(store, "verifier.0")).toBe(1);
  await store.kv.setLease(REGISTERS.beat("verifier.0"), "verifier.0#1", 60_000);
  await store.kv.setLease(REGISTERS.beat("actor.0"), "actor.0#1", 60_000);
  expect(await nextGeneration(store, "verifier.0")).toBe(2);
  expect(await store.kv.get(REGISTERS.beat("verifier.0"))).toBeUndefined();
  expect(await store.kv.get(REGISTERS.beat("actor.0")), "another place").toBe("actor.0#1");
  expect(await nextGeneration(store, "actor.0")).toBe(1);
});

test("two who fill one place do not both succeed", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const both = [1, 2].map(() => nextGeneration(store, "actor.1"));
  const ends = await Promise.allSettled(both);
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const refused = ends.find(({ status }) => status === "rejected") as PromiseRejectedResult;
  expect(refused.reason).toMatchObject({ code: "HONE_ERR_STATE", hint: expect.stringContaining("agents") });
});

test("who falls silent is ended: actors and verifier hosts, and of ranks none", () => {
  const killed: string[] = [];
  const statuses = (["actor", "verifier", "trainer"] as const).flatMap((role) =>
    [0, 1].map((rank) => ({ role, rank, epoch: 3, startedMs: performance.now() })),
  );
  const endHung = (role: string, rank: number) => killed.push(`${role}.${rank}`) > 0;
  const lost = ["actor.1#3", "verifier.0#3", "verifier.1#2", "trainer.0#3"];
  const roster = { wasLost: (member: string) => lost.includes(member), wasSeen: () => true };
  endSilent({ statuses, endHung } as unknown as Supervisor, roster as unknown as Roster, { beginMs: 0 });
  expect(killed).toEqual(["actor.1", "verifier.0"]);
});

test("who was started and is not there in time is ended: it may keep others from writing", () => {
  const killed: string[] = [];
  const began = { early: performance.now() - 20_000, late: performance.now() - 5_000 };
  const statuses = [
    { role: "actor", rank: 0, epoch: 1, startedMs: began.early },
    { role: "actor", rank: 1, epoch: 1, startedMs: began.late },
    { role: "actor", rank: 2, epoch: 1, startedMs: began.early },
    { role: "trainer", rank: 0, epoch: 1, startedMs: began.early },
  ];
  const endHung = (role: string, rank: number) => killed.push(`${role}.${rank}`) > 0;
  const roster = { wasLost: () => false, wasSeen: (member: string) => member === "actor.2#1" };
  const settings = { beginMs: 10_000 };
  endSilent({ statuses, endHung } as unknown as Supervisor, roster as unknown as Roster, settings);
  expect(killed).toEqual(["actor.0"]);
});

test("who joins has a rank after those of its role that the run began with, each once", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const both = await Promise.all([2, 3].map((count) => joiningRanks(store.kv, "actor", 4, count)));
  expect(both.map((ranks) => ranks.length)).toEqual([2, 3]);
  expect(both.flat().sort()).toEqual([4, 5, 6, 7, 8]);
  expect(await joiningRanks(store.kv, "verifier", 1, 2)).toEqual([1, 2]);
});

test("what a process held is others' at once, and counts as delivered unless it was killed", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.append("jobs", "1", Uint8Array.of(1));
  const take = async (epoch: number) => {
    store.fence(REGISTERS.generation("verifier.0"), String(epoch));
    const leases = await store.lease("jobs", "g", { max: 1, leaseMs: 3_600_000, waitMs: 0 });
    store.fence("own", "1"); // the supervisor's store again
    return leases;
  };
  await store.kv.set("own", "1");
  expect(await nextGeneration(store, "verifier.0")).toBe(1);
  expect(await take(1)).toMatchObject([{ deliveries: 1 }]);
  expect(await nextGeneration(store, "actor.0", "killed"), "another place").toBe(1);
  expect(await take(1)).toEqual([]);
  expect(await nextGeneration(store, "verifier.0", "killed")).toBe(2);
  expect(await take(2)).toMatchObject([{ deliveries: 1 }]);
  expect(await nextGeneration(store, "verifier.0", "failed")).toBe(3);
  expect(await take(3)).toMatchObject([{ deliveries: 2 }]);
  expect(await nextGeneration(store, "verifier.0"), "of an agent that was started again").toBe(4);
  expect(await take(4)).toMatchObject([{ deliveries: 3 }]);
});
