import { describe, expect, test } from "vitest";
import { RankRendezvous, selfTestRank } from "../../lib/fleet/cluster-self-test.ts";
import type { CommunicatorFace } from "../../lib/native/group-face.ts";
import { Communicator, info } from "../../lib/native/index.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";
import { patient } from "../patience.ts";

const DEADLINE = 300;
const part = (
  store: StreamStore,
  rank: number,
  size: number,
  spoil: (group: CommunicatorFace) => CommunicatorFace = (group) => group,
) =>
  selfTestRank({
    store,
    rank,
    size,
    host: "here",
    waitMs: 20_000,
    deadlineMs: patient(DEADLINE),
    sizes: [4096],
    make: (options) => spoil(new Communicator(options)),
  });

describe.skipIf(info().gloo.version === null)("ranks over Gloo", () => {
  test("time their collectives, and whoever stays away on purpose is named to the others", async () => {
    await using store = await openStore("memory:", { run: "test" });
    const [report, ...others] = await Promise.all([0, 1, 2].map((rank) => part(store, rank, 3)));
    expect(report!.ranks.map(({ rank }) => rank)).toEqual([0, 1, 2]);
    const calls = report!.timings.map(({ call, bytes }) => `${call} ${bytes}`);
    expect(calls).toEqual(["barrier 0", "all-reduce 4096", "broadcast 4096"]);
    for (const { seconds } of report!.timings) expect(seconds).toBeGreaterThan(0);
    expect(report!.drills.map(({ what, failed }) => [what, failed])).toEqual([
      ["rank 2 does not connect", []],
      ["rank 2 is silent in a collective", []],
      ["rank 2 makes another call", []],
    ]);
    expect(report!.drills[0]!.words).toMatch(/rank\(s\) 2 of the self-test did not connect/);
    expect(report!.drills[1]!.words).toMatch(/rank 2 did not call: .*no answer in time/);
    expect(report!.drills[2]!.words).toMatch(/rank 2 calls all_reduce/);
    for (const other of others) expect(other.timings).toEqual(report!.timings);
    expect([...(await store.kv.list("rendezvous/")).keys()]).toEqual(["rendezvous/called"]);
  });

  test("a rank that is told nothing fails the self-test, and all ranks know", async () => {
    await using store = await openStore("memory:", { run: "test" });
    let groups = 0;
    // the third group tests a silent rank; its barrier succeeds here although it should not
    const deaf = (group: CommunicatorFace) =>
      ++groups === 3 ? Object.assign(group, { barrier: async () => {} }) : group;
    const reports = await Promise.all([part(store, 0, 2, deaf), part(store, 1, 2)]);
    for (const { drills } of reports) expect(drills.map(({ failed }) => failed)).toEqual([[], [0], []]);
  });

  test("a sum that is wrong ends it by name", async () => {
    await using store = await openStore("memory:", { run: "test" });
    const wrong = (group: CommunicatorFace) => {
      const allReduce: CommunicatorFace["allReduce"] = async (values, op) => {
        const sum = await Communicator.prototype.allReduce.call(group, values, op);
        return (values.length === 1024 ? (sum as Float32Array).map((x) => x + 1) : sum) as typeof values;
      };
      return Object.assign(group, { allReduce });
    };
    const said = await Promise.allSettled([part(store, 0, 2, wrong), part(store, 1, 2)]);
    expect(said[0]).toMatchObject({
      reason: { code: "HONE_ERR_COLLECTIVE", message: expect.stringMatching(/came out as 4, not 3/) },
    });
    expect(said[1]).toMatchObject({ reason: { code: "HONE_ERR_COLLECTIVE" } });
  });
});

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
  const message = expect.stringMatching(/^rank\(s\) 1, 3 of 4 did not connect within/);
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
