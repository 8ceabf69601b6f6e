import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { awaitReadiness, liveMembers, Membership, NO_STATS } from "../../lib/fleet/membership.ts";
import { REGISTERS, SETTINGS } from "../../lib/fleet/names.ts";
import { openStore, type StreamStore, serveStore } from "../../lib/streams/index.ts";

const beat = async (store: Awaited<ReturnType<typeof openStore>>, member: string, engine: object) => {
  const index = Number(/\d+/.exec(member)![0]);
  await store.kv.setLease(REGISTERS.beat(`actor.${index}`), member, 60_000);
  const engines = { e: { ...NO_STATS, ...engine } };
  await store.kv.set(REGISTERS.status(`actor.${index}`), JSON.stringify({ member, pid: 5, engines }));
};

test("what an actor did counts after its end, what it held does not", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const membership = new Membership(store, SETTINGS);
  await beat(store, "actor.0#1", {
    steps: 10,
    decodeTokens: 100,
    running: 3,
    pagesUsed: 7,
    unrecordedTokens: 40,
  });
  await beat(store, "actor.1#1", { steps: 1, decodeTokens: 20, running: 2 });
  await membership.look();
  expect(membership.alive.map(({ member, index, pid }) => [member, index, pid])).toEqual([
    ["actor.0#1", 0, 5],
    ["actor.1#1", 1, 5],
  ]);
  expect(membership.stats("e")).toMatchObject({ steps: 11, decodeTokens: 120, running: 5, pagesUsed: 7 });
  expect(membership.stats("e")).toMatchObject({ unrecordedTokens: 40 });
  expect(membership.stats("e").lostTokens).toBeUndefined();
  await store.kv.delete(REGISTERS.beat("actor.0"), "actor.0#1");
  await beat(store, "actor.0#2", { steps: 2, decodeTokens: 30, running: 1 });
  await membership.look();
  expect(membership.stats("e")).toMatchObject({ steps: 13, decodeTokens: 150, running: 3, pagesUsed: 0 });
  expect(membership.stats("e")).toMatchObject({ unrecordedTokens: 0, lostTokens: 40 });
  expect(membership.wasLost("actor.0#1")).toBe(true);
  expect(membership.wasLost("actor.0#2")).toBe(false);
  expect(membership.wasLost("actor.7#1"), "it was never there").toBe(false);
});

test("words that come late do not turn counters back", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const membership = new Membership(store, SETTINGS);
  membership.heard("actor.0#1", "e", { ...NO_STATS, steps: 10, decodeTokens: 50 });
  membership.heard("actor.0#1", "e", { ...NO_STATS, steps: 9, decodeTokens: 40 });
  expect(membership.stats("e").decodeTokens).toBe(50);
});

test("words of a process before this one are not taken for this one's", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const membership = new Membership(store, SETTINGS);
  await beat(store, "actor.0#1", { running: 3 });
  await store.kv.delete(REGISTERS.beat("actor.0"));
  await store.kv.setLease(REGISTERS.beat("actor.0"), "actor.0#2", 60_000);
  await membership.look();
  expect(membership.alive).toEqual([]);
});

const rankBeat = async (store: StreamStore, rank: number, epoch: number) => {
  const member = `trainer.${rank}#${epoch}`;
  await store.kv.setLease(REGISTERS.beat(`trainer.${rank}`), member, 60_000);
  const status = { member, pid: 100 + rank, host: "a", engines: {} };
  await store.kv.set(REGISTERS.status(`trainer.${rank}`), JSON.stringify(status));
};
async function memberBeat(store: StreamStore, place: "actor.3" | "verifier.0", generation: number) {
  const member = `${place}#${generation}`;
  await store.kv.set(REGISTERS.beat(place), member);
  await store.kv.set(REGISTERS.status(place), JSON.stringify({ member, pid: 7, host: "b", engines: {} }));
}

test("ranks of the epoch of now, then actors and hosts, each with its epoch, host and process", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const membership = new Membership(store, SETTINGS);
  await store.kv.set(REGISTERS.epoch, "2");
  await rankBeat(store, 1, 2);
  await rankBeat(store, 0, 1); // the beat of an earlier epoch's process, which has ended
  await memberBeat(store, "verifier.0", 1);
  await memberBeat(store, "actor.3", 4);
  expect(await membership.ready()).toEqual([
    { role: "trainer", rank: 1, epoch: 2, host: "a", pid: 101 },
    { role: "actor", rank: 3, epoch: 4, host: "b", pid: 7 },
    { role: "verifier", rank: 0, epoch: 1, host: "b", pid: 7 },
  ]);
});

test("waits for who is missing, and names them when they do not come", async () => {
  const all = ["trainer.0", "actor.0", "actor.1"];
  const here = { epoch: 1, host: "a", pid: 1 };
  let looks = 0;
  const look = async () => {
    looks += 1;
    const actors = [0, 1].slice(0, looks).map((rank) => ({ role: "actor" as const, rank, ...here }));
    return [{ role: "trainer" as const, rank: 0, ...here }, ...actors];
  };
  expect(await awaitReadiness(look, all, 60_000)).toHaveLength(3);
  expect(looks).toBe(2);
  await expect(awaitReadiness(look, [...all, "actor.2", "trainer.1"], 0)).rejects.toMatchObject({
    code: "HONE_ERR_COLLECTIVE",
    message: "actor.2, trainer.1 of 5 processes did not join within 0 s",
  });
});

test("those whose heartbeat has not expired, of this run alone", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-live-"));
  const place = { address: `unix:${join(dir, "s.sock")}`, run: "run-1" };
  await expect(liveMembers(place)).rejects.toMatchObject({ code: "HONE_ERR_IO" });
  await using store = await serveStore(place.address, { run: place.run });
  for (const [index, ttlMs] of [
    [0, 1],
    [1, 60_000],
  ] as const) {
    await store.kv.setLease(REGISTERS.beat(`actor.${index}`), `actor.${index}#1`, ttlMs);
    const word = { member: `actor.${index}#1`, pid: 10 + index, engines: {} };
    await store.kv.set(REGISTERS.status(`actor.${index}`), JSON.stringify(word));
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await liveMembers(place)).toMatchObject([{ index: 1, pid: 11 }]);
  rmSync(dir, { recursive: true });
});
