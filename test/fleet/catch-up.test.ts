import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { deferred } from "../../lib/shared/async/deferred.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { begun, open, versionsOf } from "./begun-fleet.ts";
import { killActor, localFleet, lost } from "./local-fleet.ts";
import { generationsOf, request, TRAINER, until } from "./small-engine.ts";

test("a new actor gets what is current while the trainer rests", async () => {
  const fleet = await begun();
  await fleet.publish(5);
  for (const index of [0, 1]) await killActor(fleet, index, fleet.actors[index]!);
  const asked = fleet.generations.generate(request(0));
  fleet.start(0);
  for (const { versions } of await asked) expect(new Set(versions)).toEqual(new Set([5]));
});

test("no actor catches up from weights that have changed meanwhile, where no other has the current ones", async () => {
  const fleet = await begun();
  await fleet.trainer.initialize(99n);
  for (const index of [0, 1]) await killActor(fleet, index, fleet.actors[index]!);
  fleet.start(1);
  await until(() => fleet.updates.published.lagging("engine-0").length === 1, "the new one");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(fleet.updates.published.lagging("engine-0")).toEqual(["actor.1#2"]);
});

/** Opens actors of which the last misses version 1, and records the senders; `catchesUp` lets it continue. */
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
  expect(fleet.updates.published.lagging("engine-0")).toEqual([behind]);
  const catchesUp = () => {
    isLate = false;
  };
  const hasCaughtUp = () =>
    until(() => fleet.updates.published.lagging("engine-0").length === 0, "the late one");
  return { ...fleet, behind, sent, catchesUp, hasCaughtUp };
}

/** Starts a call of the trainer that lasts until the returned function ends it. */
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
  expect(fleet.updates.published.lagging("engine-0")).toEqual([fleet.behind]);
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
  expect(fleet.updates.published.lagging("engine-0")).toEqual([]);
});

test("an engine that is closed while one catches up stays closed", async () => {
  const fleet = await withOneBehind(2);
  const gate = deferred<void>();
  fleet.weights.onSend = () => gate.promise;
  fleet.catchesUp();
  await until(() => fleet.updates.published.version("engine-0") === 1, "the version");
  await new Promise((resolve) => setTimeout(resolve, 500));
  fleet.updates.published.delete("engine-0");
  gate.resolve();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(fleet.updates.published.version("engine-0")).toBeUndefined();
});

test("without any actor a publication fails after a while, and says where to look", async () => {
  const core = standInCore();
  const local = await localFleet(core, 0, { gatherMs: 100 });
  open.push(local);
  const generations = generationsOf(local.fleet);
  await expect(local.fleet.trainer("{}", TRAINER).publish(generations.engine)).rejects.toMatchObject({
    code: "HONE_ERR_COLLECTIVE",
    message: expect.stringContaining("no actor was ready"),
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
