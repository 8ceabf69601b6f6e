import { describe, expect, test } from "vitest";
import { selfTestRank } from "../../lib/fleet/cluster-self-test.ts";
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
    expect(report!.drills[0]!.words).toMatch(/rank\(s\) 2 of the self-test were not there/);
    expect(report!.drills[1]!.words).toMatch(/rank 2 did not call: .*no answer in time/);
    expect(report!.drills[2]!.words).toMatch(/rank 2 calls all_reduce/);
    for (const other of others) expect(other.timings).toEqual(report!.timings);
    expect([...(await store.kv.list("rendezvous/")).keys()]).toEqual(["rendezvous/called"]);
  });

  test("a rank that is told nothing fails the self-test, and all ranks know", async () => {
    await using store = await openStore("memory:", { run: "test" });
    let groups = 0;
    // its third group is that of the test with a silent rank: a barrier that comes back all the same
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
