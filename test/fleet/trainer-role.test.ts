import { expect, test } from "vitest";
import { decodeReply, encodeCall } from "../../lib/fleet/calls.ts";
import { REGISTERS, STREAMS } from "../../lib/fleet/names.ts";
import { runTrainer } from "../../lib/fleet/trainer-role.ts";
import { openStore } from "../../lib/streams/index.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { TRAINER, until } from "./small-engine.ts";

test("a rank answers every call of its own epoch once, and names what it does not know", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const stop = new AbortController();
  const sender = { send: async () => {}, close: async () => {} };
  await store.kv.set(REGISTERS.formation, "2");
  const parts = { store, open: standInCore().trainer, sender, epoch: 2, beatMs: 20, signal: stop.signal };
  const both = [0, 1].map((rank) => runTrainer({ ...parts, rank }));
  const say = (epoch: number, number: number, name: string, ...args: unknown[]) =>
    store.append(STREAMS.commands(epoch), String(number), encodeCall({ number, trainer: "t", name, args }));
  await say(1, 0, "open", "{}", TRAINER);
  await say(2, 0, "setVersion", 1);
  await say(2, 1, "open", "{}", TRAINER);
  await say(2, 2, "setVersion", 4);
  await say(2, 3, "constructor");
  await say(2, 4, "close");
  const replies = async () => {
    const entries = await store.read(STREAMS.replies(2), 0, { max: 99, waitMs: 0 });
    return entries
      .map(({ payload }) => decodeReply(payload))
      .sort((a, b) => a.number - b.number || a.rank - b.rank);
  };
  await until(async () => (await replies()).length === 7, "the replies");
  const fault = (message: RegExp) => ({ message: expect.stringMatching(message) });
  expect(await replies()).toMatchObject([
    { number: 0, rank: 0, fault: fault(/t was never opened/) },
    { number: 0, rank: 1, fault: fault(/t was never opened/) },
    { number: 1, rank: 0 },
    { number: 2, rank: 0, version: 4 },
    { number: 3, rank: 0, fault: fault(/constructor is no call/) },
    { number: 3, rank: 1, fault: fault(/constructor is no call/) },
    { number: 4, rank: 0 },
  ]);
  expect((await store.depth(STREAMS.replies(1))).items).toBe(0);
  stop.abort();
  await Promise.all(both);
});
