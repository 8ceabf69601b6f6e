import { afterEach, beforeEach, expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import type { Membership } from "../../lib/fleet/membership.ts";
import { type Control, encodeAnswer, type TransferPlan } from "../../lib/fleet/messages.ts";
import { SETTINGS, STREAMS } from "../../lib/fleet/names.ts";
import { Answers, Transfers } from "../../lib/fleet/updates.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";
import { begun, versionsOf } from "./begun-fleet.ts";
import { killActor, lost } from "./local-fleet.ts";
import { request, until } from "./small-engine.ts";

test("an actor that is late is left out, samples nothing new, and catches up", async () => {
  const fleet = await begun({ updateMs: 200 });
  let late = true;
  fleet.weights.onReceive = async (_, me) => {
    while (late && me === "actor.1#1") await new Promise((resolve) => setTimeout(resolve, 10));
  };
  expect(await fleet.publish(1)).toBe(1);
  expect(fleet.updates.published.lagging("engine-0")).toEqual(["actor.1#1"]);
  const done = await Promise.all([0, 1, 2].map((id) => fleet.generations.generate(request(id))));
  for (const { versions } of done.flat()) expect(new Set(versions)).toEqual(new Set([1]));
  late = false;
  await until(() => fleet.updates.published.lagging("engine-0").length === 0, "the late one");
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

let store: StreamStore;
let closed: AbortController;
let alive: Set<string>;
let parts: ConstructorParameters<typeof Transfers>[0];
let answers: Answers;
let listening: Promise<void>;
beforeEach(async () => {
  store = await openStore("memory:", { run: "test" });
  closed = new AbortController();
  alive = new Set(["a", "b", "c"]);
  const membership = { isAlive: (member: string) => alive.has(member) } as unknown as Membership;
  const settings = { ...SETTINGS, beatMs: 10, updateMs: 200 };
  parts = { store, membership, settings, say: async () => {} };
  answers = new Answers(parts, closed.signal);
  listening = answers.listen().catch(() => {}); // the test ends the listening by its abort
  answers.expect(1);
});
afterEach(async () => {
  closed.abort();
  await listening;
  await store.close();
});

const say = (member: string, fault?: "HONE_ERR_COLLECTIVE") =>
  store.append(
    STREAMS.answers,
    `1/${member}`,
    encodeAnswer({ update: 1, member, ...(fault && { fault: { code: fault, message: "lost" } }) }),
  );
/** An update from a to b and c. */
const plan: TransferPlan = {
  update: 1,
  engine: "e",
  version: 1,
  way: "communicator",
  withinMs: 1000,
  groups: [{ number: 1, sender: "a", members: ["b", "c"] }],
};
const isOver = (work: Promise<unknown>, withinMs: number) =>
  Promise.race([
    work.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), withinMs)),
  ]);

test("what was said while this process stood still, for longer than anybody may take, is heard", async () => {
  const asked = answers.of(1, ["b", "c"], 200);
  await say("b");
  setImmediate(() => void say("c")); // runs after everything that is due by then
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  expect([...(await asked).keys()]).toEqual(["b", "c"]);
  expect(answers.isLate("c")).toBe(false);
});

test("who does not answer in time is late, for longer each time, until it answers", async () => {
  await say("b");
  const heard = await answers.of(1, ["b", "c"], 200);
  expect([...heard.keys()]).toEqual(["b"]);
  expect(["b", "c"].map((member) => answers.isLate(member))).toEqual([false, true]);
  answers.expect(1);
  await say("c"); // the key differs from that of b's message, so that this one is not taken for a repetition
  await answers.of(1, ["c"], 200);
  expect(answers.isLate("c")).toBe(false);
});

test("who is gone is not waited for", async () => {
  alive.delete("c");
  await say("b");
  const heard = answers.of(1, ["b", "c"], 200);
  expect(await isOver(heard, 100)).toBe(true); // half of the time-out per process
});

test("actors that send have done so when each has answered, however long it takes", async () => {
  const sent = answers.sent(plan);
  await say("b");
  expect(await isOver(sent, 400)).toBe(false); // twice the time-out per process
  await say("a");
  expect(await isOver(sent, 5000)).toBe(true);
});

test("a sender that is gone, or of which all its members have said what came of it, is not waited for", async () => {
  const gone = answers.sent(plan);
  alive.delete("a");
  expect(await isOver(gone, 5000)).toBe(true);
  alive.add("a");
  const sent = answers.sent(plan);
  await say("b", "HONE_ERR_COLLECTIVE");
  expect(await isOver(sent, 200)).toBe(false);
  await say("c", "HONE_ERR_COLLECTIVE");
  expect(await isOver(sent, 5000)).toBe(true);
});

test("who has what came, from whom it did not come, and what it was not for", async () => {
  const transfers = new Transfers(parts, closed.signal);
  const ends = transfers.answers.listen().catch(() => {}); // the test ends the listening by its abort
  const alive = ["b", "c"].map((member) => ({ member, host: "" }));
  Object.assign(parts.membership, { alive });
  const send = (plan: TransferPlan) => transfers.answers.sent(plan);
  const from = { version: 1, way: "folder" as const, senders: async () => [{ name: "a", host: "" }], send };
  const first = transfers.attempt("e", from, ["b", "c"]);
  await Promise.all([say("a"), say("b"), say("c", "HONE_ERR_COLLECTIVE")]);
  expect(await first).toEqual({ received: ["b"], unable: ["a"] });
  const second = transfers.attempt("e", from, ["b"]);
  const fault = { code: "HONE_ERR_FORMAT", message: "bucket 3" } as const;
  await store.append(STREAMS.answers, "2/a", encodeAnswer({ update: 2, member: "a" }));
  await store.append(STREAMS.answers, "2/b", encodeAnswer({ update: 2, member: "b", fault }));
  const named = expect.objectContaining({ code: "HONE_ERR_FORMAT", message: "b: bucket 3" });
  expect(await second).toEqual({ received: [], unable: ["a"], fault: named });
  expect(transfers.last).toBe(2);
  closed.abort();
  await ends;
});

test("a folder is announced when it is written, and reading it may take four times as long", async () => {
  const said: string[] = [];
  const announced = { ...parts, say: async () => void said.push("announced") };
  const transfers = new Transfers(announced, closed.signal);
  const ends = transfers.answers.listen().catch(() => {}); // the test ends the listening by its abort
  Object.assign(parts.membership, { alive: [{ member: "b", host: "" }] });
  const send = async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    said.push("written");
  };
  const senders = async () => [{ name: "a", host: "" }];
  const attempt = transfers.attempt("e", { version: 1, way: "folder", sendsFirst: true, senders, send }, [
    "b",
  ]);
  const timer = setTimeout(() => void say("b"), 300 + 600); // three times the time-out of other answers
  attempt.finally(() => clearTimeout(timer)); // so that a retry of this test does not get the answer
  expect(await attempt).toEqual({ received: ["b"], unable: [] });
  expect(said).toEqual(["written", "announced"]);
  closed.abort();
  await ends;
});

test("an update has time for its weights' bytes, and four times as long as the last one took", async () => {
  const within: number[] = [];
  const say = async (control: Control) => void (control.kind === "update" && within.push(control.withinMs));
  const transfers = new Transfers({ ...parts, say }, closed.signal);
  const ends = transfers.answers.listen().catch(() => {}); // the test ends the listening by its abort
  Object.assign(parts.membership, { alive: ["b", "c"].map((member) => ({ member, host: "" })) });
  transfers.bytes.set("e", 10e6);
  const senders = async () => [{ name: "a", host: "" }];
  const update = async (ms: number, ...answering: readonly string[]) => {
    const send = () => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const attempt = transfers.attempt("e", { version: 1, way: "communicator", senders, send }, ["b", "c"]);
    for (const member of answering) {
      const number = transfers.last;
      const answer = encodeAnswer({ update: number, member });
      await store.append(STREAMS.answers, `${number}/${member}`, answer);
    }
    return await attempt;
  };
  await update(400, "b", "c");
  await update(0, "b"); // c never answers
  await update(0, "b", "c");
  await update(0);
  expect(within[0]).toBe(200 + 200);
  expect(within[1]).toBeGreaterThanOrEqual(200 + 4 * 390);
  expect(within[2]).toBe(within[1]); // the update before was not complete
  expect(within[3]).toBeLessThan(within[2]!);
  closed.abort();
  await ends;
}, 20_000);

test("after close no actor is waited for", async () => {
  const sent = answers.sent(plan);
  closed.abort();
  expect(await isOver(sent, 5000)).toBe(true);
});
