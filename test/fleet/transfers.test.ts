import { afterEach, beforeEach, expect, test } from "vitest";
import type { Membership } from "../../lib/fleet/membership.ts";
import { encodeAnswer, type TransferPlan, type TransportKind } from "../../lib/fleet/messages.ts";
import { REGISTERS, SETTINGS, STREAMS } from "../../lib/fleet/names.ts";
import { Answers, type Located, nodeGroups, TransferGroups, Transfers } from "../../lib/fleet/transfers.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";

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
  parts = { store, membership, settings, say: async () => {}, closed: closed.signal };
  answers = new Answers(parts);
  listening = answers.listen().catch(() => {}); // it is called off
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
/** From a to b and c. */
const plan: TransferPlan = {
  update: 1,
  engine: "e",
  version: 1,
  way: "communicator",
  groups: [{ number: 1, sender: "a", members: ["b", "c"] }],
};
const isOver = (work: Promise<unknown>, withinMs: number) =>
  Promise.race([
    work.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), withinMs)),
  ]);

test("what was said while this process stood still, for longer than anybody may take, is heard", async () => {
  const asked = answers.of(1, ["b", "c"]);
  await say("b");
  setImmediate(() => void say("c")); // it comes when all that was due meanwhile has run
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  expect([...(await asked).keys()]).toEqual(["b", "c"]);
  expect(answers.isLate("c")).toBe(false);
});

test("who does not answer in time is late, for longer each time, until it answers", async () => {
  await say("b");
  const heard = await answers.of(1, ["b", "c"]);
  expect([...heard.keys()]).toEqual(["b"]);
  expect(["b", "c"].map((member) => answers.isLate(member))).toEqual([false, true]);
  answers.expect(1);
  await say("c"); // of another key than b's, so that it is not the same word once more
  await answers.of(1, ["c"]);
  expect(answers.isLate("c")).toBe(false);
});

test("who is gone is not waited for", async () => {
  alive.delete("c");
  await say("b");
  const heard = answers.of(1, ["b", "c"]);
  expect(await isOver(heard, 100)).toBe(true); // half of what everyone's part may take
});

test("actors that send have done so when each has answered, however long it takes", async () => {
  const sent = answers.sent(plan);
  await say("b");
  expect(await isOver(sent, 400)).toBe(false); // twice what everyone's part may take
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
  const transfers = new Transfers(parts);
  const ends = transfers.listen().catch(() => {}); // it is called off
  const alive = ["b", "c"].map((member) => ({ member, host: "" }));
  Object.assign(parts.membership, { alive });
  const from = transfers.fromActors({ version: 1, way: "folder" }, [{ name: "a", host: "" }])!;
  expect(transfers.fromActors(from, [])).toBeUndefined();
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
  const transfers = new Transfers(announced);
  const ends = transfers.listen().catch(() => {}); // it is called off
  Object.assign(parts.membership, { alive: [{ member: "b", host: "" }] });
  const send = async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    said.push("written");
  };
  const senders = async () => [{ name: "a", host: "" }];
  const attempt = transfers.attempt("e", { version: 1, way: "folder", sendsFirst: true, senders, send }, [
    "b",
  ]);
  const timer = setTimeout(() => void say("b"), 300 + 600); // three times what any other answer may take
  attempt.finally(() => clearTimeout(timer)); // it must not answer a second try of this test
  expect(await attempt).toEqual({ received: ["b"], unable: [] });
  expect(said).toEqual(["written", "announced"]);
  closed.abort();
  await ends;
});

test("after the end nobody is waited for", async () => {
  const sent = answers.sent(plan);
  closed.abort();
  expect(await isOver(sent, 5000)).toBe(true);
});

const on = (host: string, ...names: string[]) => names.map((name) => ({ name, host }));

test("a machine's actors get weights from the first sender there; the others are dealt out", () => {
  const senders = [...on("a", "t0", "t1"), ...on("b", "t2")];
  expect(
    nodeGroups(senders, [...on("a", "x0", "x1"), ...on("b", "y0"), ...on("c", "z0", "z1", "z2")]),
  ).toEqual([
    { sender: "t0", members: ["x0", "x1", "z1"] },
    { sender: "t2", members: ["y0", "z0", "z2"] },
  ]);
  expect(nodeGroups(senders, on("b", "y0", "y1"))).toEqual([{ sender: "t2", members: ["y0", "y1"] }]);
});

/** Groups of these members, over a communicator unless said otherwise. */
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
