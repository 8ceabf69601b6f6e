import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { runActor } from "../../lib/fleet/actor.ts";
import { type Control, decodeAnswer, encodeControl, type TransferPlan } from "../../lib/fleet/messages.ts";
import { REGISTERS, SETTINGS, STREAMS } from "../../lib/fleet/names.ts";
import { openStore, StreamError } from "../../lib/streams/index.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { patient } from "../patience.ts";
import { HandOver, type LocalFleet, localFleet } from "./local-fleet.ts";
import { ENGINE, generationsOf, request, TRAINER, tokensOf, until } from "./small-engine.ts";

const open: LocalFleet[] = [];
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
});

test("an actor whose place was taken ends, and its requests go to who took it", async () => {
  const core = standInCore({ length: () => 1e9 });
  const local = await localFleet(core, 1);
  open.push(local);
  const generations = generationsOf(local.fleet);
  const trainer = local.fleet.trainer("{}", TRAINER);
  await trainer.publish(generations.engine);
  const asked = generations.generate(request(0, 2, 3000));
  await until(() => core.engines[0]!.stats().running === 2, "the first actor to have it");
  await local.store.kv.delete(REGISTERS.beat("actor.0")); // as if its lease ended while the process was stopped
  await local.store.kv.setLease(REGISTERS.beat("actor.0"), "actor.0#2", 10_000);
  await expect(local.actors[0]!.ended).rejects.toMatchObject({
    code: "HONE_ERR_STATE",
    message: expect.stringContaining("actor.0#1: this process sent no heartbeat"),
  });
  await local.store.kv.delete(REGISTERS.beat("actor.0"));
  local.start(0);
  expect((await asked).map(({ tokens }) => tokens.length)).toEqual([3000, 3000]);
});

test("a process that was taken for dead is refused by the store", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.kv.set(REGISTERS.settings, JSON.stringify({ ...SETTINGS, beatMs: 10 }));
  await store.kv.set(REGISTERS.generation("actor.0"), "2");
  store.fence(REGISTERS.generation("actor.0"), "1");
  const transport = new HandOver().transport(() => undefined);
  const { signal } = new AbortController();
  const ended = runActor({ store, core: standInCore(), transport, index: 0, generation: 1, signal });
  await expect(ended).rejects.toSatisfy((error) => error instanceof StreamError && error.why === "fenced");
});

test("an actor whose place may be another's by now gives its weights to nobody", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const aliveMs = patient(500);
  await store.kv.set(REGISTERS.settings, JSON.stringify({ ...SETTINGS, beatMs: 60_000, aliveMs }));
  const sent: number[] = [];
  const transport = {
    ...new HandOver().transport(() => undefined),
    relay: async ({ update }: TransferPlan) => void sent.push(update),
  };
  const stop = new AbortController();
  const ended = runActor({
    store,
    core: standInCore(),
    transport,
    index: 0,
    generation: 1,
    signal: stop.signal,
  });
  const say = (control: Control) => store.append(STREAMS.control, randomUUID(), encodeControl(control));
  const groups = [{ number: 1, sender: "actor.0#1", members: ["actor.1#1"] }];
  const asked = async (update: number) => {
    await say({
      kind: "update",
      update,
      engine: "e",
      version: 0,
      way: "communicator",
      withinMs: 1000,
      groups,
    });
    const [entry] = await store.read(STREAMS.answers, update - 1, { max: 1, waitMs: 10_000 });
    return decodeAnswer(entry!.payload);
  };
  await say({ kind: "open", engine: "e", config: "{}", options: ENGINE });
  expect(await asked(1)).toEqual({ update: 1, member: "actor.0#1" });
  await new Promise((resolve) => setTimeout(resolve, aliveMs + 100));
  expect(await asked(2)).toMatchObject({ member: "actor.0#1", fault: { code: "HONE_ERR_STATE" } });
  expect(sent).toEqual([1]);
  stop.abort();
  await ended;
});

test("two actors share what is asked at once, and each opens one engine", async () => {
  const core = standInCore();
  const local = await localFleet(core, 2);
  open.push(local);
  const generations = generationsOf(local.fleet);
  await until(() => local.fleet.membership.alive.length === 2, "both actors");
  await local.fleet.trainer("{}", TRAINER).publish(generations.engine);
  const groups = await Promise.all(Array.from({ length: 24 }, (_, id) => generations.generate(request(id))));
  expect(groups.map((group) => tokensOf(group).length)).toEqual(Array(24).fill(2));
  expect(core.engines).toHaveLength(2);
  for (const engine of core.engines) expect(engine.stats().decodeTokens).toBeGreaterThan(0);
});

test("where no coordinator is, an actor says so", async () => {
  await using store = await openStore("memory:", { run: "test" });
  store.kv.waitFor = async () => undefined; // returns at once instead of after a minute
  const transport = new HandOver().transport(() => undefined);
  const { signal } = new AbortController();
  const ended = runActor({ store, core: standInCore(), transport, index: 0, generation: 1, signal });
  await expect(ended).rejects.toMatchObject({
    code: "HONE_ERR_STATE",
    hint: expect.stringContaining("hone run"),
  });
});
