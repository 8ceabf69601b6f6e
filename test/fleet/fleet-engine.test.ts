import { afterEach, expect, test } from "vitest";
import { NO_STATS } from "../../lib/fleet/membership.ts";
import { STREAMS } from "../../lib/fleet/names.ts";
import { encodeOutcome } from "../../lib/fleet/outcomes.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { killActor, type LocalFleet, localFleet } from "./local-fleet.ts";
import { generationsOf, request, TRAINER, tokensOf, until } from "./small-engine.ts";

const open: LocalFleet[] = [];
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
});
async function fleetOf(...args: Parameters<typeof localFleet>): Promise<LocalFleet> {
  const fleet = await localFleet(...args);
  open.push(fleet);
  return fleet;
}

test("many requests come back as one engine of this process would have sampled them", async () => {
  const core = standInCore();
  const { fleet } = await fleetOf(core, 2);
  const here = generationsOf(core);
  const there = generationsOf(fleet);
  const trainer = fleet.trainer("{}", TRAINER);
  await trainer.initialize(3n);
  await trainer.publish(there.engine);
  await core.trainers[0]!.publish(here.engine);
  for (let id = 0; id < 20; id++) {
    const [ours, theirs] = await Promise.all([here.generate(request(id)), there.generate(request(id))]);
    expect(tokensOf(theirs)).toEqual(tokensOf(ours));
  }
  expect(there.inFlight).toBe(0);
  const { decodeTokens, running, waiting, version } = there.engine.stats();
  expect({ decodeTokens, waiting: waiting + running, version }).toEqual({
    decodeTokens: here.engine.stats().decodeTokens,
    waiting: 0,
    version: 0,
  });
});

test("an abort ends every attempt, frees the actor, and the id may come again", async () => {
  const core = standInCore({ length: (problem) => (problem === 1 ? 1e9 : 4) });
  const { fleet } = await fleetOf(core, 1);
  const generations = generationsOf(fleet);
  const trainer = fleet.trainer("{}", TRAINER);
  await trainer.publish(generations.engine);
  const stop = new AbortController();
  const endless = generations.generate({ ...request(1, 8), maxTokens: 1e9 }, stop.signal);
  await until(() => core.engines[0]!.stats().running === 8, "the request to fill the actor");
  stop.abort(new Error("enough"));
  await expect(endless).rejects.toThrow("enough");
  expect(await generations.generate(request(2))).toHaveLength(2);
  expect(core.engines[0]!.stats().running).toBe(0);
});

test("a request that comes back damaged is asked again", async () => {
  const { fleet, store, start } = await fleetOf(standInCore(), 0);
  const generations = generationsOf(fleet);
  const trainer = fleet.trainer("{}", TRAINER);
  const asked = generations.generate(request(4));
  const bytes = encodeOutcome({ number: 0, by: { member: "actor.9#1", stats: NO_STATS }, poison: true });
  bytes[bytes.length - 1]! ^= 8;
  await store.append(STREAMS.outcomes("engine-0"), "0", bytes);
  start(0);
  await trainer.publish(generations.engine);
  expect((await asked).map(({ finish }) => finish)).toEqual(["eos", "eos"]);
});

test("what an actor's engine says to a request reaches whoever waits for it", async () => {
  const core = standInCore();
  const refusing = {
    ...core,
    engine: (...args: Parameters<typeof core.engine>) => {
      const engine = core.engine(...args);
      engine.submit = () => {
        throw new Error("a request of 9 tokens, 8 fit");
      };
      return engine;
    },
  };
  const { fleet } = await fleetOf(refusing, 1);
  const generations = generationsOf(fleet);
  await fleet.trainer("{}", TRAINER).publish(generations.engine);
  await expect(generations.generate(request(0))).rejects.toThrow("actor.0#1: a request of 9 tokens, 8 fit");
});

test("a request is not sampled by older weights than were there when it was submitted", async () => {
  const core = standInCore();
  const { fleet, weights } = await fleetOf(core, 2);
  const generations = generationsOf(fleet);
  const trainer = fleet.trainer("{}", TRAINER);
  await trainer.publish(generations.engine);
  weights.onReceive = async ({ version }, me) => {
    if (version > 0 && me === "actor.1#1") await new Promise((resolve) => setTimeout(resolve, 150));
  };
  for (let version = 1; version < 6; version++) {
    await trainer.setVersion(version);
    await trainer.publish(generations.engine);
    const all = await Promise.all([0, 1, 2, 3].map((id) => generations.generate(request(10 * version + id))));
    for (const { versions } of all.flat()) expect(new Set(versions)).toEqual(new Set([version]));
  }
});

test("a closed engine takes nothing more", async () => {
  const { fleet } = await fleetOf(standInCore(), 1);
  const generations = generationsOf(fleet);
  await generations.close();
  expect(() => generations.submit(request(0), { deliver: () => {}, fail: () => {} })).toThrow(/is closed/);
});

test("requests that no actor alive can sample, and none will, end after a while", async () => {
  const local = await fleetOf(standInCore({ length: () => 1e9 }), 1, { gatherMs: 300 });
  const generations = generationsOf(local.fleet);
  const trainer = local.fleet.trainer("{}", TRAINER);
  await trainer.publish(generations.engine);
  const asked = generations.generate({ ...request(1), maxTokens: 1e9 });
  const ended = expect(asked).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE", message: /version 0/ });
  await trainer.setVersion(5);
  await killActor(local, 0, local.actors[0]!);
  local.start(0);
  await ended;
});

test("requests that were answered leave their stream", async () => {
  const { fleet, store } = await fleetOf(standInCore(), 2);
  const generations = generationsOf(fleet);
  const trainer = fleet.trainer("{}", TRAINER);
  await trainer.publish(generations.engine);
  for (let id = 0; id < 160; id++) await generations.generate(request(id));
  await until(async () => (await store.depth(STREAMS.requests("engine-0"))).items < 40, "the trim");
  expect(await generations.generate(request(200))).toHaveLength(2);
});
