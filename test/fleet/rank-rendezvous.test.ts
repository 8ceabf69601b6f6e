import { expect, test } from "vitest";
import { RankRendezvous } from "../../lib/fleet/rank-rendezvous.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";

const come = (store: StreamStore, rank: number, size: number, waitMs = 20_000) =>
  RankRendezvous.open({ store, rank, size, host: `host-${rank}`, waitMs });

test("ranks find each other, and again after others have met in the same store", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const ids = new Set<string>();
  for (let meeting = 0; meeting < 2; meeting++) {
    const all = await Promise.all([2, 0, 1].map((rank) => come(store, rank, 3)));
    for (const { id, ranks } of all) {
      ids.add(id);
      expect(ranks.map(({ rank, host }) => [rank, host])).toEqual([0, 1, 2].map((r) => [r, `host-${r}`]));
    }
    expect(ids.size).toBe(meeting + 1);
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    for (const each of all) await each[Symbol.asyncDispose]();
  }
});

test("everybody is told who is missing", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const said = await Promise.allSettled([0, 2].map((rank) => come(store, rank, 4, 300)));
  const message = expect.stringMatching(/^rank\(s\) 1, 3 of 4 were not there within/);
  expect(said.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  for (const each of said) expect(each).toMatchObject({ reason: { code: "HONE_ERR_COLLECTIVE", message } });
});

test("who went without a word is seen by its lease", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const [first, second] = await Promise.all([come(store, 0, 2), come(store, 1, 2)]);
  expect(await first.gone()).toEqual([]);
  await second[Symbol.asyncDispose]();
  expect(await first.gone()).toEqual([1]);
  await first[Symbol.asyncDispose]();
});
