import { expect, test } from "vitest";
import { nodeGroups, UpdateRate } from "../../../lib/shared/weights/weight-update.ts";

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
