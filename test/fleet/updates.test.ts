import { afterEach, expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { killActor, type LocalFleet, localFleet, lost } from "./local-fleet.ts";
import { generationsOf, request, TRAINER, until } from "./small-engine.ts";

const open: LocalFleet[] = [];
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
});

/** Two actors with weights of version 0. */
async function begun(settings = {}) {
  const core = standInCore();
  const local = await localFleet(core, 2, settings);
  open.push(local);
  const { fleet } = local;
  const generations = generationsOf(fleet);
  const trainer = fleet.trainer("{}", TRAINER);
  await until(() => fleet.roster.living.length === 2, "both actors");
  await trainer.publish(generations.engine);
  const publish = async (version: number) => {
    await trainer.setVersion(version);
    return trainer.publish(generations.engine);
  };
  const { updates } = fleet;
  return { ...local, updates, generations, publish, trainer, engines: core.engines };
}

const versionsOf = ({ engines }: Awaited<ReturnType<typeof begun>>) =>
  engines.map((engine) => engine.stats().version);

test("an actor that is late is left out, samples nothing new, and catches up", async () => {
  const fleet = await begun({ updateMs: 200 });
  let late = true;
  fleet.weights.onReceive = async (_, me) => {
    while (late && me === "actor.1#1") await new Promise((resolve) => setTimeout(resolve, 10));
  };
  expect(await fleet.publish(1)).toBe(1);
  expect(fleet.updates.lagging("engine-0")).toEqual(["actor.1#1"]);
  const done = await Promise.all([0, 1, 2].map((id) => fleet.generations.generate(request(id))));
  for (const { versions } of done.flat()) expect(new Set(versions)).toEqual(new Set([1]));
  late = false;
  await until(() => fleet.updates.lagging("engine-0").length === 0, "the late one");
  await fleet.generations.generate(request(9, 8));
  await fleet.generations.generate(request(10, 8));
  await until(() => versionsOf(fleet).every((version) => version === 1), "both engines to have version 1");
});

test("where one is lost under way nobody uses what came, and the others get it again", async () => {
  const fleet = await begun();
  const received: string[] = [];
  fleet.weights.onReceive = ({ version, groups: [group] }, me) => {
    const { members } = group!;
    received.push(`${version} ${me} of ${members.length}`);
    if (members.length === 2) throw lost();
  };
  const published = fleet.publish(1);
  await until(() => received.length >= 2, "the first attempt");
  await killActor(fleet, 1, fleet.actors[1]!);
  expect(await published).toBe(1);
  expect(received.slice(0, 2).sort()).toEqual(["1 actor.0#1 of 2", "1 actor.1#1 of 2"]);
  expect(received.at(-1)).toBe("1 actor.0#1 of 1");
  expect((await fleet.generations.generate(request(0))).length).toBe(2);
});

test("an actor that lost its part says by how much it lags, while the other goes on", async () => {
  const fleet = await begun();
  let late = true;
  fleet.weights.onReceive = (_, me) => {
    if (late && me === "actor.1#1") throw lost();
  };
  for (const version of [1, 2]) await fleet.publish(version);
  const facts = (index: number) => fleet.actors[index]!.facts();
  await until(() => facts(1)?.lag === 2, "its lag");
  expect(facts(1)).toMatchObject({ version: 0, restarts: 0 });
  await until(() => facts(0)?.version === 2, "the other");
  expect(facts(0)).toMatchObject({ lag: 0 });
  late = false;
  await until(() => facts(1)?.lag === 0 && facts(1)?.version === 2, "it to catch up");
});

test("weights that are refused for what they are end the publication with the actor's words", async () => {
  const fleet = await begun();
  fleet.weights.onReceive = () => {
    throw new HoneError("HONE_ERR_FORMAT", "bucket 3: its checksum differs");
  };
  await expect(fleet.publish(1)).rejects.toMatchObject({
    code: "HONE_ERR_FORMAT",
    message: expect.stringMatching(/^actor\.\d#1: bucket 3/),
  });
  expect(versionsOf(fleet)).toEqual([0, 0]);
});

test("a new actor gets what is current while the trainer rests", async () => {
  const fleet = await begun();
  await fleet.publish(5);
  for (const index of [0, 1]) await killActor(fleet, index, fleet.actors[index]!);
  const asked = fleet.generations.generate(request(0));
  fleet.start(0);
  for (const { versions } of await asked) expect(new Set(versions)).toEqual(new Set([5]));
});

test("nobody catches up by weights that are others meanwhile", async () => {
  const fleet = await begun();
  await fleet.trainer.initialize(99n);
  await killActor(fleet, 1, fleet.actors[1]!);
  fleet.start(1);
  await until(() => fleet.fleet.roster.living.length === 2, "the new one");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(fleet.updates.lagging("engine-0")).toEqual(["actor.1#2"]);
});

test("without any actor a publication fails after a while, and says where to look", async () => {
  const core = standInCore();
  const local = await localFleet(core, 0, { gatherMs: 100 });
  open.push(local);
  const generations = generationsOf(local.fleet);
  await expect(local.fleet.trainer("{}", TRAINER).publish(generations.engine)).rejects.toMatchObject({
    code: "HONE_ERR_COLLECTIVE",
    message: expect.stringContaining("no actor was there"),
  });
});

test("an evaluation's engine keeps its weights while training's gets others", async () => {
  const fleet = await begun();
  const pinned = generationsOf(fleet.fleet);
  await fleet.trainer.publish(pinned.engine);
  const first = pinned.generate(request(3, 8));
  for (let version = 1; version < 5; version++) await fleet.publish(version);
  const later = await pinned.generate(request(4, 8));
  for (const { versions } of [...(await first), ...later]) expect(new Set(versions)).toEqual(new Set([0]));
  await pinned.close();
});
