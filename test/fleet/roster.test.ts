import { expect, test } from "vitest";
import { REGISTERS, SETTINGS } from "../../lib/fleet/names.ts";
import { NO_STATS, Roster } from "../../lib/fleet/roster.ts";
import { openStore } from "../../lib/streams/index.ts";

const beat = async (store: Awaited<ReturnType<typeof openStore>>, member: string, engine: object) => {
  const index = Number(/\d+/.exec(member)![0]);
  await store.kv.setLease(REGISTERS.beat(`actor.${index}`), member, 60_000);
  const engines = { e: { ...NO_STATS, ...engine } };
  await store.kv.set(REGISTERS.word(`actor.${index}`), JSON.stringify({ member, pid: 5, engines }));
};

test("what an actor did counts after its end, what it held does not", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const roster = new Roster(store, SETTINGS);
  await beat(store, "actor.0#1", {
    steps: 10,
    decodeTokens: 100,
    running: 3,
    pagesUsed: 7,
    unrecordedTokens: 40,
  });
  await beat(store, "actor.1#1", { steps: 1, decodeTokens: 20, running: 2 });
  await roster.look();
  expect(roster.alive.map(({ member, index, pid }) => [member, index, pid])).toEqual([
    ["actor.0#1", 0, 5],
    ["actor.1#1", 1, 5],
  ]);
  expect(roster.stats("e")).toMatchObject({ steps: 11, decodeTokens: 120, running: 5, pagesUsed: 7 });
  expect(roster.stats("e")).toMatchObject({ unrecordedTokens: 40 });
  expect(roster.stats("e").lostTokens).toBeUndefined();
  await store.kv.delete(REGISTERS.beat("actor.0"), "actor.0#1");
  await beat(store, "actor.0#2", { steps: 2, decodeTokens: 30, running: 1 });
  await roster.look();
  expect(roster.stats("e")).toMatchObject({ steps: 13, decodeTokens: 150, running: 3, pagesUsed: 0 });
  expect(roster.stats("e")).toMatchObject({ unrecordedTokens: 0, lostTokens: 40 });
  expect(roster.wasLost("actor.0#1")).toBe(true);
  expect(roster.wasLost("actor.0#2")).toBe(false);
  expect(roster.wasLost("actor.7#1"), "it was never there").toBe(false);
});

test("words that come late do not turn counters back", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const roster = new Roster(store, SETTINGS);
  roster.heard("actor.0#1", "e", { ...NO_STATS, steps: 10, decodeTokens: 50 });
  roster.heard("actor.0#1", "e", { ...NO_STATS, steps: 9, decodeTokens: 40 });
  expect(roster.stats("e").decodeTokens).toBe(50);
});

test("words of a process before this one are not taken for this one's", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const roster = new Roster(store, SETTINGS);
  await beat(store, "actor.0#1", { running: 3 });
  await store.kv.delete(REGISTERS.beat("actor.0"));
  await store.kv.setLease(REGISTERS.beat("actor.0"), "actor.0#2", 60_000);
  await roster.look();
  expect(roster.alive).toEqual([]);
});
