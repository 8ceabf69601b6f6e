import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FolderReceiver, FolderSender } from "../../lib/fleet/folder-transport.ts";
import type { WeightTypes } from "../../lib/native/face.ts";
import { Generations } from "../../lib/native/generations.ts";
import { nativeCore, newModelConfig } from "../../lib/orchestration/index.ts";
import { openStore } from "../../lib/streams/index.ts";
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

const plan = (update: number, version: number) => ({
  update,
  engine: "e",
  version,
  way: "folder" as const,
  groups: [{ number: 0, sender: "trainer.0#0", members: ["actor.0#1"] }],
});

test.each<WeightTypes>([
  { weightStorage: "f32" },
  { weightStorage: "bf16" },
  { weightStorage: "bf16", arithmetic: "bf16" },
])("an engine samples with weights of %o from a folder what it samples with the trainer's", async (types) => {
  await using store = await openStore("memory:", { run: "test" });
  const core = await nativeCore();
  const trainer = core.trainer(config, { ...TRAINER, ...types, device: "cpu" });
  await trainer.initialize(3n);
  for (let i = 0; i < 3; i++) await trainer.step(BATCH, STEP);
  const sender = new FolderSender(store, dir);
  const receiver = new FolderReceiver(store, core, 1000);
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
  const sender = new FolderSender(store, dir);
  const receiver = new FolderReceiver(store, core, 50);
  const spec = { engine: "e", config, options: { ...ENGINE, device: "cpu" as const } };
  await sender.send(plan(1, 0), trainer);
  await expect(receiver.receive(plan(1, 4), spec)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await expect(receiver.receive(plan(2, 0), spec)).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
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
  const sender = new FolderSender(store, dir);
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
  const receiver = new FolderReceiver(store, leaving, 1000);
  const spec = { engine: "e", config, options: { ...ENGINE, device: "cpu" as const } };
  await expect(receiver.receive(plan(1, 0), spec)).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
  for (const part of [sender, receiver, trainer]) await part.close();
});

test("an actor passes on the folder that its own weights came from, with the trainer's hashes", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const core = await nativeCore();
  const trainer = core.trainer(config, { ...TRAINER, device: "cpu" });
  await trainer.initialize(3n);
  const sender = new FolderSender(store, dir);
  const [first, second] = [new FolderReceiver(store, core, 50), new FolderReceiver(store, core, 50)];
  const spec = { engine: "e", config, options: { ...ENGINE, device: "cpu" as const } };
  const engines = [1, 2, 3].map(
    () => new Generations((handlers) => core.engine(config, spec.options, handlers)),
  );
  await trainer.publish(engines[0]!.engine);
  await sender.send(plan(1, 0), trainer);
  const mine = await first.receive(plan(1, 0), spec);
  await expect(first.send(plan(2, 0), spec)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await mine.commit(engines[1]!.engine);
  await expect(first.send(plan(2, 1), spec)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await trainer.step(BATCH, STEP); // it has other weights by now, and takes no part
  await first.send(plan(2, 0), spec);
  await (await second.receive(plan(2, 0), spec)).commit(engines[2]!.engine);
  const sampled = [];
  for (const generations of engines) {
    const completions = await generations.generate({ ...request(5, 4), sampling: { temperature: 1 } });
    sampled.push(tokensOf(completions).map((each, i) => ({ ...each, logprobs: completions[i]!.logprobs })));
  }
  expect(sampled[1]).toEqual(sampled[0]);
  expect(sampled[2]).toEqual(sampled[0]);
  await second.send(plan(3, 0), spec);
  await sender.close(); // and takes the folder with it
  await first.send(plan(4, 0), spec);
  await expect(second.receive(plan(4, 0), spec)).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
  for (const part of [first, second, trainer, ...engines]) await part.close();
  expect([...(await store.kv.list("fleet/weights/")).keys()]).toEqual(["fleet/weights/1"]);
});

test("folders of earlier updates are removed", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const trainer = (await nativeCore()).trainer(config, { ...TRAINER, device: "cpu" });
  await trainer.initialize(3n);
  const sender = new FolderSender(store, dir);
  for (let update = 1; update < 5; update++) await sender.send(plan(update, 0), trainer);
  expect(readdirSync(dir).sort()).toEqual(["weights-3", "weights-4"]);
  await sender.close();
  expect(readdirSync(dir)).toEqual([]);
  await trainer.close();
});
