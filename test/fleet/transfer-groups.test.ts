import { expect, test } from "vitest";
import type { TransportKind } from "../../lib/fleet/messages.ts";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { type Located, nodeGroups, TransferGroups } from "../../lib/fleet/transfer-groups.ts";
import { openStore } from "../../lib/streams/index.ts";

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

test("a connection is kept while its members are the same, and nobody is in two", async () => {
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
