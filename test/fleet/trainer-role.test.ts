import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import type { TransferPlan } from "../../lib/fleet/messages.ts";
import { REGISTERS, SETTINGS, STREAMS } from "../../lib/fleet/names.ts";
import { decodeReply, encodeCall } from "../../lib/fleet/trainer-calls.ts";
import { runTrainer } from "../../lib/fleet/trainer-role.ts";
import type { TrainerOptions } from "../../lib/native/face.ts";
import { deferred } from "../../lib/shared/async/deferred.ts";
import { openStore } from "../../lib/streams/index.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { TRAINER, until } from "./small-engine.ts";

/** The plan of an update from these senders. */
const plan = (...senders: string[]): TransferPlan => ({
  update: 1,
  engine: "e",
  version: 1,
  way: "communicator",
  withinMs: 1000,
  groups: senders.map((sender, number) => ({ number, sender, members: [`actor.${number}#1`] })),
});

test.each([
  ["parameters", ["gather", "parameter", "score", "gather", "send"], ["gather", "score", "gather"]],
  ["optimizer", ["parameter", "score", "send"], ["score"]],
])(
  "ranks that divide %s score together, and gather divided weights for what the first one does alone",
  async (stage, first, second) => {
    await using store = await openStore("memory:", { run: "test" });
    const stop = new AbortController();
    await store.kv.set(REGISTERS.epoch, "1");
    const made: string[] = [];
    const ranks = [0, 1].map((rank) => {
      const note = (what: string) => async () => void made.push(`${rank} ${what}`);
      const open = (...args: Parameters<ReturnType<typeof standInCore>["trainer"]>) => {
        const trainer = standInCore().trainer(...args);
        const noted = { gatherWeights: note("gather"), parameter: note("parameter"), score: note("score") };
        return Object.assign(trainer, noted);
      };
      const transport = { send: note("send"), close: async () => {} };
      return runTrainer({
        store,
        open,
        transport,
        epoch: 1,
        settings: { ...SETTINGS, beatMs: 20 },
        signal: stop.signal,
        rank,
      });
    });
    const say = (number: number, name: string, ...args: unknown[]) =>
      store.append(STREAMS.commands(1), String(number), encodeCall({ number, trainer: "t", name, args }));
    await say(0, "open", "{}", { ...TRAINER, sharding: { stage } });
    for (const [i, name] of ["parameter", "score", "send", "close"].entries())
      await say(i + 1, name, ...(name === "send" ? [plan("trainer.0#1")] : []));
    await until(async () => (await store.depth(STREAMS.replies(1))).items === 5, "the replies");
    await until(() => made.length === first.length + second.length, "both ranks");
    const of = (rank: number) =>
      made.filter((text) => text.startsWith(`${rank}`)).map((text) => text.slice(2));
    expect(of(0)).toEqual(first);
    expect(of(1)).toEqual(second);
    stop.abort();
    await Promise.all(ranks);
  },
);

test("a rank answers every call of its own epoch once, and names what it does not know", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const stop = new AbortController();
  const transport = { send: async () => {}, close: async () => {} };
  await store.kv.set(REGISTERS.epoch, "2");
  const parts = {
    store,
    open: standInCore().trainer,
    transport,
    epoch: 2,
    settings: { ...SETTINGS, beatMs: 20 },
    signal: stop.signal,
  };
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
    { number: 3, rank: 0, fault: fault(/constructor is not a call/) },
    { number: 3, rank: 1, fault: fault(/constructor is not a call/) },
    { number: 4, rank: 0 },
  ]);
  expect((await store.depth(STREAMS.replies(1))).items).toBe(0);
  stop.abort();
  await Promise.all(both);
});

test("what changes nothing is rank 0's work alone; the ranks' trainers get the group that they are", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.kv.set(REGISTERS.epoch, "1");
  const stop = new AbortController();
  const done: string[] = [];
  const ranks = [0, 1].map((rank) => {
    const group = { rank, size: 2, abort: () => done.push(`${rank} leaves`), close: async () => {} };
    const transport = { send: async () => void done.push(`${rank} sends`), close: async () => {} };
    const open = (_: unknown, { sharding }: TrainerOptions) => {
      done.push(`${rank} opens as ${sharding!.communicator!.rank}`);
      return {
        version: 0,
        saveModel: async () => void done.push(`${rank} saves a model`),
        setVersion: async () => void done.push(`${rank} has a version`),
        close: async () => {},
      } as never;
    };
    const parts = { store, rank, epoch: 1, settings: { ...SETTINGS, beatMs: 20 }, signal: stop.signal };
    return runTrainer({ ...parts, open, transport, group: group as never });
  });
  const say = (number: number, name: string, ...args: unknown[]) =>
    store.append(STREAMS.commands(1), String(number), encodeCall({ number, trainer: "t", name, args }));
  await say(0, "open", "{}", { ...TRAINER, sharding: { stage: "optimizer", exact: true } });
  for (const [i, name] of ["saveModel", "send", "setVersion"].entries())
    await say(i + 1, name, ...(name === "send" ? [plan("trainer.0#1")] : [2]));
  await until(() => done.filter((each) => /version/.test(each)).length === 2, "both to be through");
  stop.abort();
  await Promise.all(ranks);
  const ofRank = (rank: number) => done.filter((each) => each.startsWith(`${rank} `));
  expect(ofRank(0).slice(0, 4)).toEqual(["0 opens as 0", "0 saves a model", "0 sends", "0 has a version"]);
  expect(ofRank(1).slice(0, 2)).toEqual(["1 opens as 1", "1 has a version"]);
  expect(done).toEqual(expect.arrayContaining(["0 leaves", "1 leaves"]));
});

test("rank 0 answers for all that send, once they are through; what one lost on the way its members say", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.kv.set(REGISTERS.epoch, "1");
  const stop = new AbortController();
  const through = deferred<void>();
  const sent: string[] = [];
  let there = 0;
  const both = [0, 1].map((rank) => {
    const barrier = () => {
      if (++there === 2) through.resolve();
      return through.promise;
    };
    const group = { rank, size: 2, barrier, abort: () => {}, close: async () => {} };
    const send = async (_: TransferPlan, __: unknown, me: string) => {
      sent.push(me);
      if (rank === 1) throw new HoneError("HONE_ERR_COLLECTIVE", "actor.1#1 is gone");
    };
    const transport = { send, close: async () => {} };
    const parts = {
      store,
      rank,
      epoch: 1,
      settings: { ...SETTINGS, beatMs: 20 },
      signal: stop.signal,
      open: standInCore().trainer,
    };
    return runTrainer({ ...parts, transport, group: group as never });
  });
  const say = (number: number, name: string, ...args: unknown[]) =>
    store.append(STREAMS.commands(1), String(number), encodeCall({ number, trainer: "t", name, args }));
  await say(0, "open", "{}", { ...TRAINER, sharding: { stage: "optimizer", exact: true } });
  await say(1, "send", plan("trainer.0#1", "trainer.1#1"));
  await say(2, "send", plan("trainer.0#0"));
  const replies = async () =>
    (await store.read(STREAMS.replies(1), 0, { max: 99, waitMs: 0 })).map(({ payload }) =>
      decodeReply(payload),
    );
  await until(async () => (await replies()).some(({ number }) => number === 2), "the last reply");
  expect(sent.sort()).toEqual(["trainer.0#1", "trainer.1#1"]);
  expect(there).toBe(2);
  expect((await replies()).map(({ number, rank, fault }) => [number, rank, fault?.code])).toEqual([
    [0, 0, undefined],
    [1, 0, undefined],
    [2, 0, "HONE_ERR_COLLECTIVE"],
  ]);
  stop.abort();
  await Promise.all(both);
});

test("a rank that leaves amid a checkpoint, another being gone, says nothing of the step that ends with it", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.kv.set(REGISTERS.epoch, "1");
  const [begun, step, write] = [deferred<void>(), deferred<never>(), deferred<never>()];
  const leaves = () => step.reject(new HoneError("HONE_ERR_ABORTED", "this rank leaves"));
  const group = { rank: 1, size: 2, abort: leaves, close: async () => {} };
  const open = () => {
    const trains = () => {
      begun.resolve();
      return step.promise;
    };
    const close = () => step.promise.catch(() => {});
    return { version: 0, step: trains, written: () => write.promise, close } as never;
  };
  const transport = { send: async () => {}, close: async () => {} };
  const parts = {
    store,
    rank: 1,
    epoch: 1,
    settings: { ...SETTINGS, beatMs: 20 },
    signal: new AbortController().signal,
  };
  const over = runTrainer({ ...parts, open, transport, group: group as never });
  const say = (number: number, name: string, ...args: unknown[]) =>
    store.append(STREAMS.commands(1), String(number), encodeCall({ number, trainer: "t", name, args }));
  await say(0, "open", "{}", { ...TRAINER, sharding: { stage: "optimizer", exact: true } });
  await say(1, "written");
  await say(2, "step", { tokens: Int32Array.of(1) }, {});
  await begun.promise;
  write.reject(new HoneError("HONE_ERR_COLLECTIVE", "rank 0 is gone"));
  await expect(over).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE", message: "rank 0 is gone" });
  await new Promise((resolve) => setImmediate(resolve)); // by now any reply would have been sent
  expect((await store.depth(STREAMS.replies(1))).items).toBe(0);
});

test("ranks that divide nothing are refused", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.kv.set(REGISTERS.epoch, "1");
  const stop = new AbortController();
  const group = { rank: 0, size: 2, abort: () => {}, close: async () => {} } as never;
  const transport = { send: async () => {}, close: async () => {} };
  const { trainer: open } = standInCore();
  const ended = runTrainer({
    store,
    rank: 0,
    epoch: 1,
    settings: { ...SETTINGS, beatMs: 20 },
    signal: stop.signal,
    open,
    transport,
    group,
  });
  const call = { number: 0, trainer: "t", name: "open", args: ["{}", TRAINER] };
  await store.append(STREAMS.commands(1), "0", encodeCall(call));
  const [reply] = await store.read(STREAMS.replies(1), 0, { max: 1, waitMs: 5000 });
  expect(decodeReply(reply!.payload).fault).toMatchObject({
    code: "HONE_ERR_USAGE",
    message: expect.stringMatching(/2 trainers/),
  });
  stop.abort();
  await ended;
});
