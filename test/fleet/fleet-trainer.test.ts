import { afterEach, expect, test } from "vitest";
import { localTrainers } from "../../lib/fleet/fleet-trainer.ts";
import { openFleet } from "../../lib/fleet/index.ts";
import type { TransferPlan, TransportKind } from "../../lib/fleet/messages.ts";
import type { TrainerOptions } from "../../lib/native/face.ts";
import { openStore } from "../../lib/streams/index.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { type LocalFleet, localFleet } from "./local-fleet.ts";
import { BATCH, generationsOf, STEP, TRAINER } from "./small-engine.ts";

const open: LocalFleet[] = [];
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
});

async function begun(options: Parameters<typeof standInCore>[0] = {}) {
  const core = standInCore(options);
  const local = await localFleet(core, 1);
  open.push(local);
  const generations = generationsOf(local.fleet);
  const trainer = local.fleet.trainer("{}", TRAINER);
  await trainer.publish(generations.engine);
  return { core, trainer, generations };
}

test("a step publishes its weights, and says how long that took", async () => {
  const { trainer, generations } = await begun();
  const report = await trainer.step(BATCH, STEP, generations.engine);
  expect(trainer.version).toBe(1);
  expect(generations.engine.stats().version).toBe(1);
  expect(report.publishSeconds).toBeGreaterThan(0);
});

test("a step that was skipped publishes nothing", async () => {
  const { trainer, generations } = await begun({ onStep: () => ({ skipped: true }) });
  await trainer.step(BATCH, STEP, generations.engine);
  expect(generations.engine.stats().version).toBe(0);
});

test("calls are done in the order they were made, a publication among them", async () => {
  const { trainer, generations, core } = await begun();
  const done: string[] = [];
  await Promise.all([
    trainer.setVersion(5).then(() => done.push("set 5")),
    trainer.publish(generations.engine).then((version) => done.push(`published ${version}`)),
    trainer.setVersion(9).then(() => done.push("set 9")),
    trainer.publish(generations.engine).then((version) => done.push(`published ${version}`)),
  ]);
  expect(done).toEqual(["set 5", "published 5", "set 9", "published 9"]);
  expect(core.trainers[0]!.version).toBe(9);
});

test("an engine of this process is refused", async () => {
  const { trainer, core } = await begun();
  await expect(trainer.publish(core.engines[0]!)).rejects.toThrow(/not one of this fleet's actors/);
});

test("weights between GPUs go their own way, those of adapters with all others; a folder is announced when it is there", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const core = standInCore();
  const openTrainer: Parameters<typeof openFleet>[0]["openTrainer"] = (...args) => ({
    trainer: core.trainer(...args),
    send: async (_: TransferPlan) => {},
    senders: async () => [{ name: "trainer.0#0", host: "here" }],
  });
  const weights = { way: "communicator", betweenGpus: "folder", words: "over Gloo" } as const;
  await using fleet = await openFleet({ store, info: core.info, openTrainer, weights });
  const lora = { rank: 2, alpha: 2, targets: ["q_proj"], seed: 1n };
  const published: string[] = [];
  fleet.updates.publish = async (_, { way, sendsFirst }) => {
    published.push(`${way}${sendsFirst ? ", then told" : ""}`);
    return 0;
  };
  const { engine } = generationsOf(fleet);
  for (const more of [{}, { device: "cpu" }, { device: "cuda" }, { lora }])
    await fleet.trainer("{}", { ...TRAINER, ...more } as TrainerOptions).publish(engine);
  expect(published).toEqual(["communicator", "communicator", "folder, then told", "communicator"]);
  expect(fleet.processes().weights).toBe("over Gloo");
});

test("a trainer of this process sends under its own name", async () => {
  const sent: [TransportKind, string][] = [];
  const sender = {
    send: async ({ way }: { way: TransportKind }, _: unknown, me: string) => void sent.push([way, me]),
    close: async () => {},
  };
  const { send, senders } = localTrainers(standInCore(), sender, "10.0.0.7")("{}", TRAINER);
  expect(await senders()).toEqual([{ name: "trainer.0#0", host: "10.0.0.7" }]);
  await send({ update: 1, engine: "e", version: 1, way: "folder", withinMs: 1000, groups: [] });
  expect(sent).toEqual([["folder", "trainer.0#0"]]);
});
