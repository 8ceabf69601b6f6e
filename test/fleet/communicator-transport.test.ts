// Tests weights over Gloo as a fleet sends them. test/e2e/weights-under-way.test.ts kills real processes during an
// update.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CommunicatorTransport,
  chooseTransport,
  connectRanks,
} from "../../lib/fleet/communicator-transport.ts";
import type { EngineSpec, TransferPlan } from "../../lib/fleet/messages.ts";
import { REGISTERS } from "../../lib/fleet/names.ts";
import type { NativeInfo } from "../../lib/native/face.ts";
import { Generations } from "../../lib/native/generations.ts";
import { Communicator, info, WeightReceiver } from "../../lib/native/index.ts";
import type { WeightReceiverOptions } from "../../lib/native/receiver-face.ts";
import { type Core, nativeCore } from "../../lib/orchestration/index.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";
import { modelConfig } from "../native/small-model.ts";
import { lost } from "./local-fleet.ts";
import { BATCH, ENGINE, request, STEP, TRAINER, tokensOf } from "./small-engine.ts";

const SENDER = "trainer.0#1";
const ACTORS = ["actor.0#1", "actor.1#1"] as const;

let store: StreamStore;
let core: Core;
let stop: AbortController;
let open: { close(): Promise<void> }[];
beforeEach(async () => {
  store = await openStore("memory:", { run: "test" });
  core = await nativeCore();
  stop = new AbortController();
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((each) => each.close()));
  await store.close();
});

const opened = <T extends { close(): Promise<void> }>(each: T): T => {
  open.push(each);
  return each;
};

const transport = () =>
  new CommunicatorTransport({
    store,
    make: (options: ConstructorParameters<typeof Communicator>[0]) => new Communicator(options),
    signal: stop.signal,
    receiver: (...args: ConstructorParameters<typeof WeightReceiver>) => new WeightReceiver(...args),
  });

/** The deadline of the plans below. */
let withinMs: number;

/** A sender and two receivers, each with connections of its own. */
function three(deadlineMs = 20_000) {
  withinMs = deadlineMs;
  const sender = opened(transport());
  const receivers = ACTORS.map(() => opened(transport()));
  return { sender, receivers };
}

const plan = (
  version: number,
  number = 1,
  members: readonly string[] = ACTORS,
  engine = "e",
): TransferPlan => ({
  update: version,
  engine,
  version,
  way: "communicator",
  withinMs,
  groups: [{ number, sender: SENDER, members }],
});
/** A plan in which the first actor sends to the second. */
const fromPeer = (version: number, number: number): TransferPlan => ({
  ...plan(version, number),
  groups: [{ number, sender: ACTORS[0], members: ACTORS.slice(1) }],
});
const spec = (engine = "e"): EngineSpec => ({
  engine,
  config: modelConfig,
  options: { ...ENGINE, device: "cpu" as const },
});

async function newTrainer() {
  const trainer = opened(core.trainer(modelConfig, { ...TRAINER, device: "cpu" }));
  await trainer.initialize(3n);
  return trainer;
}
const newEngine = () =>
  opened(new Generations((handlers) => core.engine(modelConfig, spec().options, handlers)));
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error) => error.code,
  );

describe.skipIf(info().gloo.version === null)("over Gloo", () => {
  test("every engine samples what it samples with the trainer's own weights, update after update", async () => {
    const trainer = await newTrainer();
    const { sender, receivers } = three();
    const [here, ...there] = [newEngine(), newEngine(), newEngine()];
    for (const version of [1, 2]) {
      await trainer.step(BATCH, STEP);
      const staged = await Promise.all([
        sender.send(plan(version), trainer, SENDER),
        ...receivers.map((each, i) => each.receive(plan(version), spec(), ACTORS[i]!)),
      ]);
      for (const [i, weights] of staged.slice(1).entries())
        await (weights as { commit(engine: unknown): Promise<void> }).commit(there[i]!.engine);
      await trainer.publish(here.engine);
      const sampled = [];
      for (const generations of [here, ...there]) {
        const completions = await generations.generate({ ...request(version, 4), id: version });
        sampled.push(
          tokensOf(completions).map((each, i) => ({ ...each, logprobs: completions[i]!.logprobs })),
        );
      }
      expect(sampled[1]).toEqual(sampled[0]);
      expect(sampled[2]).toEqual(sampled[0]);
      expect(sampled[0]![0]!.versions[0]).toBe(version);
    }
  });

  test("who gets weights from another actor samples what the trainer's own weights sample, after the trainer went on", async () => {
    const trainer = await newTrainer();
    const { sender, receivers } = three();
    const [here, first, second] = [newEngine(), newEngine(), newEngine()];
    await trainer.step(BATCH, STEP);
    await trainer.publish(here.engine);
    const one = ACTORS.slice(0, 1);
    const [, weights] = await Promise.all([
      sender.send(plan(1, 1, one), trainer, SENDER),
      receivers[0]!.receive(plan(1, 1, one), spec(), ACTORS[0]),
    ]);
    await weights.commit(first.engine);
    await trainer.step(BATCH, STEP);
    const [, given] = await Promise.all([
      receivers[0]!.relay(fromPeer(1, 2), spec(), ACTORS[0]),
      receivers[1]!.receive(fromPeer(1, 2), spec(), ACTORS[1]),
    ]);
    await given.commit(second.engine);
    const sampled = [];
    for (const generations of [here, first, second]) {
      const completions = await generations.generate({ ...request(1, 4), id: 1 });
      sampled.push(tokensOf(completions).map((each, i) => ({ ...each, logprobs: completions[i]!.logprobs })));
    }
    expect(sampled[2]).toEqual(sampled[0]);
    expect(sampled[1]).toEqual(sampled[0]);
  });

  test("an actor sends only what it has committed; who waits for more is told within the time-out", async () => {
    const trainer = await newTrainer();
    const { sender, receivers } = three(400);
    const [giver, taker] = receivers as [(typeof receivers)[0], (typeof receivers)[0]];
    const one = ACTORS.slice(0, 1);
    const refused = (version: number, number: number) =>
      Promise.all([
        code(giver.relay(fromPeer(version, number), spec(), ACTORS[0])),
        code(taker.receive(fromPeer(version, number), spec(), ACTORS[1])),
      ]);
    expect(await refused(1, 2)).toEqual(["HONE_ERR_STATE", "HONE_ERR_COLLECTIVE"]);
    const get = async (version: number) => {
      await trainer.setVersion(version);
      const [, weights] = await Promise.all([
        sender.send(plan(version, version + 10, one), trainer, SENDER),
        giver.receive(plan(version, version + 10, one), spec(), ACTORS[0]),
      ]);
      return weights;
    };
    await (await get(1)).commit(newEngine().engine);
    const second = await get(2); // replaces version 1
    expect(await refused(1, 3)).toEqual(["HONE_ERR_STATE", "HONE_ERR_COLLECTIVE"]);
    expect(await refused(2, 4)).toEqual(["HONE_ERR_STATE", "HONE_ERR_COLLECTIVE"]);
    await second.commit(newEngine().engine);
    expect(await refused(1, 5)).toEqual(["HONE_ERR_STATE", "HONE_ERR_COLLECTIVE"]);
    await Promise.all([
      giver.relay(fromPeer(2, 6), spec(), ACTORS[0]),
      taker.receive(fromPeer(2, 6), spec(), ACTORS[1]),
    ]);
    await giver.forget("e");
    expect(await code(giver.relay(fromPeer(2, 6), spec(), ACTORS[0]))).toBe("HONE_ERR_STATE");
  });

  test("an actor that sends to one that is not there is told within the time-out", async () => {
    const trainer = await newTrainer();
    const { sender, receivers } = three(400);
    const one = ACTORS.slice(0, 1);
    const [, weights] = await Promise.all([
      sender.send(plan(0, 1, one), trainer, SENDER),
      receivers[0]!.receive(plan(0, 1, one), spec(), ACTORS[0]),
    ]);
    await weights.commit(newEngine().engine);
    await expect(receivers[0]!.relay(fromPeer(0, 2), spec(), ACTORS[0])).rejects.toMatchObject({
      code: "HONE_ERR_COLLECTIVE",
      message: expect.stringContaining("rank(s) 1 of actor.0#1 and actor.1#1 did not connect"),
    });
  });

  test("an evaluation's engine may get older weights than training's has, and an engine none twice over", async () => {
    const trainer = await newTrainer();
    const { sender, receivers } = three();
    const one = ACTORS.slice(0, 1);
    const transfer = async (version: number, engine: string) => {
      await trainer.setVersion(version);
      const ways = [
        sender.send(plan(version, 1, one, engine), trainer, SENDER),
        receivers[0]!.receive(plan(version, 1, one, engine), spec(engine), ACTORS[0]),
      ] as const;
      const generations = newEngine();
      return Promise.all([ways[0], ways[1].then((weights) => weights.commit(generations.engine))]);
    };
    await transfer(7, "training");
    await transfer(4, "evaluation");
    await expect(transfer(6, "training")).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
    await receivers[0]!.forget("training");
    await transfer(6, "training");
  });

  test("another version than was announced is refused", async () => {
    const trainer = await newTrainer();
    const { sender, receivers } = three();
    const one = ACTORS.slice(0, 1);
    await trainer.setVersion(2);
    const received = receivers[0]!.receive(plan(3, 1, one), spec(), ACTORS[0]);
    await Promise.all([
      sender.send(plan(3, 1, one), trainer, SENDER),
      expect(received).rejects.toMatchObject({ code: "HONE_ERR_STATE", message: /received version 2/ }),
    ]);
  });

  // Another trainer hung here: the message that announces an update was lost, and its broadcast waited forever.
  test("where the word of an update is lost, who waits is told by name within the time-out, and later updates come", async () => {
    const trainer = await newTrainer();
    const { sender, receivers } = three(400);
    await expect(sender.send(plan(1), trainer, SENDER)).rejects.toMatchObject({
      code: "HONE_ERR_COLLECTIVE",
      message: expect.stringContaining(`rank(s) 1, 2 of ${SENDER} and ${ACTORS.join(", ")} did not connect`),
    });
    const one = ACTORS.slice(0, 1);
    const again = [
      sender.send(plan(0, 2, one), trainer, SENDER),
      receivers[0]!.receive(plan(0, 2, one), spec(), ACTORS[0]),
    ];
    expect(await Promise.all(again.map(code))).toEqual(["ok", "ok"]);
    // the connection exists, but the peer does not take part
    expect(await code(sender.send(plan(1, 2, one), trainer, SENDER))).toBe("HONE_ERR_COLLECTIVE");
    expect(await code(receivers[0]!.receive(plan(1, 2, one), spec(), ACTORS[0]))).toBe("HONE_ERR_COLLECTIVE");
  });

  test("who leaves does not wait for the others", async () => {
    const trainer = await newTrainer();
    const { sender, receivers } = three(600_000);
    const one = ACTORS.slice(0, 1);
    const both = () => [
      sender.send(plan(0, 1, one), trainer, SENDER),
      receivers[0]!.receive(plan(0, 1, one), spec(), ACTORS[0]),
    ];
    expect(await Promise.all(both().map(code))).toEqual(["ok", "ok"]);
    const waits = code(sender.send(plan(0, 1, one), trainer, SENDER));
    setTimeout(() => stop.abort(), 50);
    expect(await waits).toMatch(/HONE_ERR_(ABORTED|COLLECTIVE)/);
  });

  // Another trainer hung here: rank 0's collectives among trainers queued behind its broadcast to engines, while the
  // other ranks had nothing to broadcast.
  test("collectives among trainers and transfers to engines, whoever is slow, do not wait for each other", async () => {
    const ranks = [0, 1].map((rank) => opened(new Communicator({ rank, size: 2, timeoutMs: 20_000 })));
    const blobs = ranks.map((rank) => rank.prepare());
    await Promise.all(ranks.map((rank, i) => rank.connect(blobs.map((each) => each[i]!))));
    const trainer = await newTrainer();
    const { sender, receivers } = three();
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    for (const slow of ["trainer", "rank", "actor"]) {
      const late = (who: string) => (who === slow ? pause(100) : undefined);
      const first = async () => {
        await ranks[0]!.allReduce(Float32Array.of(1), "sum");
        await late("trainer");
        await sender.send(plan(0), trainer, SENDER);
        await ranks[0]!.barrier();
      };
      const second = async () => {
        await ranks[1]!.allReduce(Float32Array.of(1), "sum");
        await late("rank");
        await ranks[1]!.barrier();
      };
      const actors = receivers.map(async (each, i) => {
        if (i === 1) await late("actor");
        await each.receive(plan(0), spec(), ACTORS[i]!);
      });
      expect(await Promise.all([first(), second(), ...actors].map(code))).toEqual(["ok", "ok", "ok", "ok"]);
    }
  });
});

test("what receives an engine's weights is told where they lie and how they are stored and multiplied", async () => {
  const told: WeightReceiverOptions[] = [];
  const transport = new CommunicatorTransport({
    store,
    signal: stop.signal,
    receiver: (_, options) => {
      told.push(options);
      return { close: async () => {} } as WeightReceiver;
    },
    make: () => {
      throw lost();
    },
  });
  for (const [i, options] of [
    {},
    { device: "cuda" as const, weightStorage: "bf16" as const, arithmetic: "bf16" as const },
  ].entries()) {
    const { device: _, ...plain } = spec(`e${i}`).options;
    const asked = { ...spec(`e${i}`), options: { ...plain, ...options } };
    await expect(transport.receive(plan(1, i), asked, ACTORS[0])).rejects.toThrow("a member is gone");
  }
  expect(told).toEqual([
    { device: "cpu", weightStorage: "f32", arithmetic: "f32" },
    { device: "cuda", weightStorage: "bf16", arithmetic: "bf16" },
  ]);
  await transport.close();
});

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

describe.skipIf(info().gloo.version === null)("ranks that connect over Gloo", () => {
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

type Libraries = Pick<NativeInfo, "gloo" | "nccl">;
const noNccl = { version: null, reason: "no libnccl.so" };
const gloo = { gloo: { version: "0.5", reason: null }, nccl: noNccl } as Libraries;
const both = { ...gloo, nccl: { version: "2.27", reason: null } } as Libraries;
const none = { gloo: { version: null, reason: "libgloo.so is not installed" }, nccl: noNccl } as Libraries;

test.each([
  [undefined, gloo, "communicator", "folder", /over Gloo, from one/],
  [undefined, both, "communicator", "communicator", /over Gloo, between GPUs over NCCL, from one/],
  ["communicator", gloo, "communicator", "communicator", /over Gloo/],
  ["folder", both, "folder", "folder", /through folders$/],
  [
    undefined,
    none,
    "folder",
    "folder",
    /through folders; Gloo is not available: libgloo.so is not installed/,
  ],
] as const)("asked for %s with %o: %s, between GPUs %s", (asked, info, way, betweenGpus, words) => {
  expect(chooseTransport(asked, info)).toEqual({ way, betweenGpus, words: expect.stringMatching(words) });
});

test("a communicator that is asked for and not there is refused", () => {
  expect(() => chooseTransport("communicator", none)).toThrow(
    /hardware.weights is "communicator", but Gloo is not/,
  );
});
