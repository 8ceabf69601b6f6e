import { afterEach, expect, test } from "vitest";
import { deferred } from "../../lib/deferred.ts";
import { HoneError } from "../../lib/errors.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { killActor, type LocalFleet, localFleet, lost } from "./local-fleet.ts";
import { generationsOf, request, TRAINER, until } from "./small-engine.ts";

const open: LocalFleet[] = [];
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
});

/** Actors with weights of version 0. */
async function begun(settings = {}, actors = 2) {
  const core = standInCore();
  const local = await localFleet(core, actors, settings);
  open.push(local);
  const { fleet } = local;
  const generations = generationsOf(fleet);
  const trainer = fleet.trainer("{}", TRAINER);
  await until(() => fleet.membership.alive.length === actors, "all actors");
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

test("nobody catches up by weights that are others meanwhile, where no actor has those that are current", async () => {
  const fleet = await begun();
  await fleet.trainer.initialize(99n);
  for (const index of [0, 1]) await killActor(fleet, index, fleet.actors[index]!);
  fleet.start(1);
  await until(() => fleet.updates.lagging("engine-0").length === 1, "the new one");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(fleet.updates.lagging("engine-0")).toEqual(["actor.1#2"]);
});

/** Actors of which the last one has missed version 1, heard from who sends; `catchesUp` lets it go on. */
async function withOneBehind(actors: number, settings = {}) {
  const fleet = await begun({ updateMs: 200, ...settings }, actors);
  const behind = `actor.${actors - 1}#1`;
  let isLate = true;
  fleet.weights.onReceive = async ({ version }, me) => {
    while (isLate && version === 1 && me === behind) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const sent: string[] = [];
  fleet.weights.onTrainerSends = ({ version }) => void sent.push(`${version} by the trainer`);
  fleet.weights.onSend = ({ version }, me) => void sent.push(`${version} by ${me}`);
  await fleet.publish(1);
  expect(fleet.updates.lagging("engine-0")).toEqual([behind]);
  const catchesUp = () => {
    isLate = false;
  };
  const hasCaughtUp = () => until(() => fleet.updates.lagging("engine-0").length === 0, "the late one");
  return { ...fleet, behind, sent, catchesUp, hasCaughtUp };
}

/** A call of the trainer that takes its time. */
function busy({ updates }: Awaited<ReturnType<typeof begun>>) {
  const done = deferred<void>();
  const call = updates.exclusive(() => done.promise);
  return () => {
    done.resolve();
    return call;
  };
}

test("who lags catches up from an actor, to the bit, while the trainer is busy and has other weights", async () => {
  const fleet = await withOneBehind(2);
  await fleet.trainer.initialize(99n);
  const rest = busy(fleet);
  fleet.catchesUp();
  await fleet.hasCaughtUp();
  expect(fleet.sent).toEqual(["1 by the trainer", "1 by actor.0#1"]);
  await until(() => versionsOf(fleet).every((version) => version === 1), "both engines");
  const { words } = fleet.weights;
  expect([words.size, words.get("actor.1#1")]).toEqual([2, words.get("actor.0#1")]);
  await rest();
});

test("also while the trainer rests it is an actor that sends", async () => {
  const fleet = await withOneBehind(2);
  fleet.catchesUp();
  await fleet.hasCaughtUp();
  expect(fleet.sent).toEqual(["1 by the trainer", "1 by actor.0#1"]);
});

test("an actor that has it no more whole, and one that dies amid it: another is asked, and the trainer only when it rests", async () => {
  const fleet = await withOneBehind(3);
  const rest = busy(fleet);
  fleet.weights.onSend = async (plan, me) => {
    fleet.sent.push(`${plan.version} by ${me}`);
    fleet.weights.lose(plan);
    if (me === "actor.0#1") throw new HoneError("HONE_ERR_STATE", "half of another version came over it");
    const { stop } = fleet.actors[1]!;
    const ended = new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
    void killActor(fleet, 1, fleet.actors[1]!);
    await ended;
  };
  fleet.catchesUp();
  await until(() => fleet.sent.length === 3, "both to be asked");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(fleet.updates.lagging("engine-0")).toEqual([fleet.behind]);
  await rest();
  await fleet.hasCaughtUp();
  expect(fleet.sent).toEqual(["1 by the trainer", "1 by actor.0#1", "1 by actor.1#1", "1 by the trainer"]);
});

test("an actor from which another could not get it is asked again for the next version", async () => {
  const fleet = await withOneBehind(2);
  const rest = busy(fleet);
  let fails = true;
  fleet.weights.onSend = (plan, me) => {
    fleet.sent.push(`${plan.version} by ${me}`);
    if (!fails) return;
    fleet.weights.lose(plan);
    throw lost();
  };
  fleet.catchesUp();
  await until(() => fleet.sent.length === 2, "the other to be asked");
  fails = false;
  await rest();
  await fleet.hasCaughtUp();
  await killActor(fleet, 1, fleet.actors[1]!);
  await fleet.publish(2);
  fleet.start(1);
  await until(() => fleet.fleet.membership.isAlive("actor.1#2"), "the new one");
  await fleet.hasCaughtUp();
  expect(fleet.sent.slice(-2)).toEqual(["2 by the trainer", "2 by actor.0#1"]);
});

test("a publication waits for a transfer among actors, and then has all of them", async () => {
  const fleet = await withOneBehind(2);
  const gate = deferred<void>();
  fleet.weights.onSend = async (_, me) => {
    fleet.sent.push(`begun by ${me}`);
    await gate.promise;
    fleet.sent.push(`done by ${me}`);
  };
  const rest = busy(fleet);
  fleet.catchesUp();
  await until(() => fleet.sent.length === 2, "the transfer");
  await rest();
  const published = fleet.publish(2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  gate.resolve();
  expect(await published).toBe(2);
  expect(fleet.sent.slice(1)).toEqual(["begun by actor.0#1", "done by actor.0#1", "2 by the trainer"]);
  expect(fleet.updates.lagging("engine-0")).toEqual([]);
});

test("an engine that is closed while one catches up stays closed", async () => {
  const fleet = await withOneBehind(2);
  const gate = deferred<void>();
  fleet.weights.onSend = () => gate.promise;
  fleet.catchesUp();
  await until(() => fleet.updates.version("engine-0") === 1, "the version");
  await new Promise((resolve) => setTimeout(resolve, 500));
  fleet.updates.forget("engine-0");
  gate.resolve();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(fleet.updates.version("engine-0")).toBeUndefined();
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
