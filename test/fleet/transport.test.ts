import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TransportKind } from "../../lib/fleet/messages.ts";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { FolderTransport, TransferGroups } from "../../lib/fleet/transport.ts";
import type { TrainerOptions, WeightTypes } from "../../lib/native/face.ts";
import { Generations } from "../../lib/native/generations.ts";
import { type Core, nativeCore, newModelConfig } from "../../lib/orchestration/index.ts";
import type { Located } from "../../lib/shared/weights/weight-update.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";
import { BATCH, ENGINE, request, STEP, TRAINER, tokensOf } from "./small-engine.ts";

const config = newModelConfig(
  {
    width: 32,
    layers: 2,
    heads: 2,
    kvHeads: 1,
    headDim: 16,
    mlpWidth: 48,
    maxPositions: 64,
    normEps: 1e-5,
    ropeTheta: 10_000,
    tiedHead: true,
    qkvBias: false,
    qkNorm: false,
  },
  64,
);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-weights-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The transport by a folder, for one process. */
const folders = (store: StreamStore, core: Pick<Core, "trainer">) =>
  new FolderTransport({ store, core, folder: dir });

const plan = (update: number, version: number, withinMs = 1000) => ({
  update,
  engine: "e",
  version,
  way: "folder" as const,
  withinMs,
  groups: [{ number: 0, sender: "trainer.0#0", members: ["actor.0#1"] }],
});

const lora = { rank: 2, alpha: 64, targets: ["q_proj", "down_proj"], seed: 1n };

test.each<WeightTypes & Pick<TrainerOptions, "lora">>([
  { weightStorage: "f32" },
  { weightStorage: "bf16" },
  { weightStorage: "bf16", arithmetic: "bf16" },
  { weightStorage: "bf16", lora },
])("an engine samples with weights of %o from a folder what it samples with the trainer's", async (made) => {
  const { lora: _, ...types } = made;
  await using store = await openStore("memory:", { run: "test" });
  const core = await nativeCore();
  const trainer = core.trainer(config, { ...TRAINER, ...made, device: "cpu" });
  await trainer.initialize(3n);
  for (let i = 0; i < 3; i++) await trainer.step(BATCH, STEP);
  const sender = folders(store, core);
  const receiver = folders(store, core);
  const spec = { engine: "e", config, options: { ...ENGINE, ...types, device: "cpu" as const } };
  const sampled = [];
  for (const way of ["folder", "hand"]) {
    const generations = new Generations((handlers) => core.engine(config, spec.options, handlers));
    if (way === "hand") await trainer.publish(generations.engine);
    else {
      await sender.send(plan(1, 3), trainer);
      await (await receiver.receive(plan(1, 3), spec)).commit(generations.engine);
    }
    const completions = await generations.generate({ ...request(5, 4), sampling: { temperature: 1 } });
    sampled.push(completions.map((each, i) => ({ ...tokensOf(completions)[i], logprobs: each.logprobs })));
    await generations.close();
  }
  expect(sampled[0]).toEqual(sampled[1]);
  for (const part of [sender, receiver, trainer]) await part.close();
});

test("weights that were changed on their way, are of another version, or do not come are refused", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const core = await nativeCore();
  const trainer = core.trainer(config, { ...TRAINER, device: "cpu" });
  await trainer.initialize(3n);
  const sender = folders(store, core);
  const receiver = folders(store, core);
  const spec = { engine: "e", config, options: { ...ENGINE, device: "cpu" as const } };
  await sender.send(plan(1, 0), trainer);
  await expect(receiver.receive(plan(1, 4), spec)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await expect(receiver.receive(plan(2, 0, 50), spec)).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
  const [name] = readdirSync(join(dir, "weights-1")).filter((each) => each.endsWith(".safetensors"));
  const file = join(dir, "weights-1", name!);
  const bytes = readFileSync(file);
  bytes[bytes.length - 3]! ^= 1;
  writeFileSync(file, bytes);
  await expect(receiver.receive(plan(1, 0), spec)).rejects.toMatchObject({
    code: "HONE_ERR_FORMAT",
    message: expect.stringContaining("its hash differs"),
  });
  for (const part of [sender, receiver, trainer]) await part.close();
});

test.each([
  ["before it begins", "all of it"],
  ["while it reads", "all of it"],
  ["while it reads", "a file"],
])("a sender that leaves %s, and takes %s: a transfer that did not come about", async (when, what) => {
  await using store = await openStore("memory:", { run: "test" });
  const core = await nativeCore();
  const trainer = core.trainer(config, { ...TRAINER, device: "cpu" });
  await trainer.initialize(3n);
  const sender = folders(store, core);
  await sender.send(plan(1, 0), trainer);
  const folder = join(dir, "weights-1");
  const leave = () => (what === "a file" ? rmSync(join(folder, "model.safetensors")) : sender.close());
  const leaving = {
    trainer: (...parts: Parameters<typeof core.trainer>) => {
      const holder = core.trainer(...parts);
      const load = holder.loadHf.bind(holder);
      holder.loadHf = async (path) => {
        await leave();
        return load(path);
      };
      return holder;
    },
  };
  if (when === "before it begins") rmSync(folder, { recursive: true });
  const receiver = folders(store, leaving);
  const spec = { engine: "e", config, options: { ...ENGINE, device: "cpu" as const } };
  await expect(receiver.receive(plan(1, 0), spec)).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
  for (const part of [sender, receiver, trainer]) await part.close();
});

test("an actor passes on the folder that its own weights came from, with the trainer's hashes", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const core = await nativeCore();
  const trainer = core.trainer(config, { ...TRAINER, device: "cpu" });
  await trainer.initialize(3n);
  const sender = folders(store, core);
  const [first, second] = [folders(store, core), folders(store, core)];
  const spec = { engine: "e", config, options: { ...ENGINE, device: "cpu" as const } };
  const engines = [1, 2, 3].map(
    () => new Generations((handlers) => core.engine(config, spec.options, handlers)),
  );
  await trainer.publish(engines[0]!.engine);
  await sender.send(plan(1, 0), trainer);
  const mine = await first.receive(plan(1, 0), spec);
  await expect(first.relay(plan(2, 0), spec)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await mine.commit(engines[1]!.engine);
  await expect(first.relay(plan(2, 1), spec)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await trainer.step(BATCH, STEP); // the trainer now has other weights, and takes no part
  await first.relay(plan(2, 0), spec);
  await (await second.receive(plan(2, 0), spec)).commit(engines[2]!.engine);
  const sampled = [];
  for (const generations of engines) {
    const completions = await generations.generate({ ...request(5, 4), sampling: { temperature: 1 } });
    sampled.push(tokensOf(completions).map((each, i) => ({ ...each, logprobs: completions[i]!.logprobs })));
  }
  expect(sampled[1]).toEqual(sampled[0]);
  expect(sampled[2]).toEqual(sampled[0]);
  await second.relay(plan(3, 0), spec);
  await sender.close(); // the sender removes the folder on close
  await first.relay(plan(4, 0), spec);
  await expect(second.receive(plan(4, 0, 50), spec)).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
  for (const part of [first, second, trainer, ...engines]) await part.close();
  expect([...(await store.kv.list("fleet/weights/")).keys()]).toEqual(["fleet/weights/1"]);
});

test("folders of earlier updates are removed", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const core = await nativeCore();
  const trainer = core.trainer(config, { ...TRAINER, device: "cpu" });
  await trainer.initialize(3n);
  const sender = folders(store, core);
  for (let update = 1; update < 5; update++) await sender.send(plan(update, 0), trainer);
  expect(readdirSync(dir).sort()).toEqual(["weights-3", "weights-4"]);
  await sender.close();
  expect(readdirSync(dir)).toEqual([]);
  await trainer.close();
});

const on = (host: string, ...names: string[]) => names.map((name) => ({ name, host }));

/** The groups of these members, by default over a communicator. */
const groupsOf = (
  groups: TransferGroups,
  senders: readonly Located[],
  members: readonly Located[],
  way: TransportKind = "communicator",
) =>
  groups.of(
    { way, senders: async () => senders },
    members.map(({ name }) => name),
    members.map(({ name, host }) => ({ member: name, host })),
  );

test("a folder is written once for all", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const members = [...on("a", "x0"), ...on("b", "y0")];
  const groups = await groupsOf(new TransferGroups(store), on("a", "t0", "t1"), members, "folder");
  expect(groups).toEqual([{ number: 0, sender: "t0", members: ["x0", "y0"] }]);
});

test("a connection is kept while its members are the same, and no member is in two", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const groups = new TransferGroups(store);
  const senders = [...on("a", "t0"), ...on("b", "t1")];
  const all = [...on("a", "x0", "x1"), ...on("b", "y0")];
  const numbers = async (members = all) =>
    (await groupsOf(groups, senders, members)).map(({ number }) => number);
  expect(await numbers()).toEqual([1, 2]);
  expect(await numbers()).toEqual([1, 2]);
  await store.kv.set(`${REGISTERS.transfer(1)}0-1`, "where rank 1 finds rank 0");
  expect(await numbers(on("a", "x0"))).toEqual([3]);
  expect((await store.kv.list(REGISTERS.transfer(1))).size).toBe(0);
  expect(await numbers()).toEqual([4, 2]);
});

test("after a loss it is another connection, of those that lost alone", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const groups = new TransferGroups(store);
  const senders = [...on("a", "t0"), ...on("b", "t1")];
  const all = [...on("a", "x0"), ...on("b", "y0", "y1")];
  const first = await groupsOf(groups, senders, all);
  await groups.dropLost(first, new Set(["x0", "y1"]));
  expect((await groupsOf(groups, senders, all)).map(({ number }) => number)).toEqual([1, 3]);
});
