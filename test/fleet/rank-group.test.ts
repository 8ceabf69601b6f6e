import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { connectRanks } from "../../lib/fleet/rank-group.ts";
import { Communicator, info } from "../../lib/native/index.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";

let store: StreamStore;
beforeEach(async () => {
  store = await openStore("memory:", { run: "test" });
});
afterEach(() => store.close());

const join = (rank: number, epoch: number, gatherMs = 20_000) =>
  connectRanks({
    store,
    rank,
    size: 2,
    links: REGISTERS.links(epoch),
    name: `epoch ${epoch}`,
    settings: { gatherMs, collectiveMs: 20_000 },
    signal: new AbortController().signal,
    make: (options) => new Communicator(options),
  });

describe.skipIf(info().gloo.version === null)("over Gloo", () => {
  test("ranks of one epoch find each other", async () => {
    const [a, b] = await Promise.all([join(0, 4), join(1, 4)]);
    const sums = await Promise.all(
      [a, b].map((group) => group.allReduce(Int32Array.of(group.rank + 1), "sum")),
    );
    expect(sums).toEqual([Int32Array.of(3), Int32Array.of(3)]);
    await Promise.all([a.close(), b.close()]);
  });

  test("one of an earlier epoch is not let in, and both are told who is missing", async () => {
    const said = await Promise.allSettled([join(1, 3, 300), join(0, 4, 300)]);
    const missing = [/rank\(s\) 0 of epoch 3/, /rank\(s\) 1 of epoch 4/].map((message) => ({
      reason: { code: "HONE_ERR_COLLECTIVE", message: expect.stringMatching(message) },
    }));
    expect(said).toMatchObject(missing);
    expect([...(await store.kv.list(REGISTERS.links(4))).keys()]).toHaveLength(2);
  });
});
