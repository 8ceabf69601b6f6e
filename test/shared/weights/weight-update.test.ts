import { expect, test } from "vitest";
import { nodeGroups, UpdateRate } from "../../../lib/shared/weights/weight-update.ts";

const on = (host: string, ...names: string[]) => names.map((name) => ({ name, host }));

test("a machine's actors get weights from the first sender there; the others are dealt out", () => {
  const senders = [...on("a", "t0", "t1"), ...on("b", "t2")];
  expect(
    nodeGroups(senders, [...on("a", "x0", "x1"), ...on("b", "y0"), ...on("c", "z0", "z1", "z2")]),
  ).toEqual([
    { sender: "t0", members: ["z1", "x0", "x1"] },
    { sender: "t2", members: ["z0", "y0", "z2"] },
  ]);
  expect(nodeGroups(senders, on("b", "y0", "y1"))).toEqual([{ sender: "t2", members: ["y0", "y1"] }]);
});

test("a broadcast crosses once to each machine without a sender, or little more", () => {
  /** Machines with these numbers of members beside a sender on the first. */
  const crossings = (...counts: readonly number[]) => {
    const members = counts.flatMap((count, host) =>
      on(String(host), ...Array.from({ length: count }, (_, i) => `${host}/${i}`)),
    );
    const [group] = nodeGroups(on("0", "0/t"), members);
    expect(group!.members.toSorted()).toEqual(members.map(({ name }) => name).toSorted());
    const hosts = ["0/t", ...group!.members].map((name) => name.split("/")[0]);
    // the broadcast of csrc/dist/host_collectives.cc: each place that has the bytes sends them to one more, until all have them
    let crossed = 0;
    for (let have = 1; have < hosts.length; have *= 2)
      for (let place = have; place < Math.min(2 * have, hosts.length); place++)
        if (hosts[place] !== hosts[place - have]) crossed += 1;
    return crossed;
  };
  expect([crossings(3), crossings(3, 4), crossings(7, 8), crossings(1, 2, 2, 2)]).toEqual([0, 1, 1, 3]);
  expect(crossings(0, 8)).toBe(4);
  expect(crossings(7, 8, 8)).toBeLessThan(8); // of 16 members elsewhere
});

test("the time for an update grows with its bytes, and with how long the last one took; a fast one shortens nothing", () => {
  const rate = new UpdateRate();
  expect(rate.withinMs(5000, 0)).toBe(5000);
  expect(rate.withinMs(5000, 1.5e9)).toBe(35_000);
  rate.measured(1.5e9, 1000);
  expect(rate.withinMs(5000, 1.5e9)).toBe(35_000);
  rate.measured(1.5e9, 20_000);
  expect(rate.withinMs(5000, 1.5e9)).toBe(85_000);
  rate.measured(0, 60_000); // weights of unknown size say nothing
  expect(rate.withinMs(5000, 1.5e9)).toBe(85_000);
  rate.measured(1.5e9, 1000);
  expect(rate.withinMs(5000, 1.5e9)).toBe(35_000);
  expect(rate.withinMs(0, 1)).toBe(1); // whole milliseconds
});
