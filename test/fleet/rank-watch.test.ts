import { beforeEach, expect, test } from "vitest";
import { REGISTERS, SETTINGS } from "../../lib/fleet/names.ts";
import type { RankStatus } from "../../lib/fleet/rank-heartbeat.ts";
import { RankWatch } from "../../lib/fleet/rank-watch.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";

let store: StreamStore;
let now: number;
let lost: [number, string][];
let watch: RankWatch;
let beat: number;
beforeEach(async () => {
  store = await openStore("memory:", { run: "test" });
  now = 0;
  lost = [];
  beat = 0;
  watch = new RankWatch(
    store,
    SETTINGS,
    (...what) => lost.push(what),
    () => now,
  );
  watch.form(2, 2);
});

const say = (rank: number, word: Partial<RankStatus> = {}) =>
  store.kv.set(
    REGISTERS.heartbeat(rank),
    JSON.stringify({ rank, epoch: 2, pid: 1, beat: beat++, done: 0, busy: false, cpuSeconds: 0, ...word }),
  );

/** Every second: what ranks say, and a look at it. */
async function seconds(count: number, words: (second: number) => Partial<RankStatus>[]): Promise<void> {
  for (let i = 0; i < count; i++) {
    now += 1000;
    await Promise.all(words(now / 1000).map((word, rank) => say(rank, word)));
    await watch.look();
  }
}

test("a rank that is silent is lost, once; one that never came after longer", async () => {
  await seconds(2, () => [{}, {}]);
  await seconds(11, () => [{}]);
  expect(lost).toEqual([[1, "it was silent for 11 s"]]);
  watch.form(3, 2);
  await seconds(120, () => [{ epoch: 3 }, { epoch: 2 }]);
  expect(lost).toHaveLength(1);
  await seconds(1, () => [{ epoch: 3 }, { epoch: 2 }]);
  expect(lost[1]).toEqual([1, "it was silent for 121 s"]);
});

test("ranks that work are slow, however long their call takes", async () => {
  await seconds(600, (second) => [
    { busy: true, cpuSeconds: 0.3 * second },
    { busy: true, cpuSeconds: 0.01 * second },
  ]);
  expect(lost).toEqual([]);
});

test("ranks that wait for a call are idle, however long", async () => {
  await seconds(600, () => [{}, {}]);
  expect(lost).toEqual([]);
});

test("a rank that skipped a collective leaves the others waiting: none works, none gets on", async () => {
  await seconds(30, (second) => [{ busy: true, done: second }, { done: second }]);
  await seconds(59, (second) => [
    { busy: true, done: 30, cpuSeconds: 0.04 * second },
    { done: 31, cpuSeconds: 0.02 * second },
  ]);
  expect(lost).toEqual([]);
  await seconds(3, () => [{ busy: true, done: 30, cpuSeconds: 3 }, { done: 31 }]);
  expect(lost).toEqual([[0, "no rank got on for 60 s"]]);
});
