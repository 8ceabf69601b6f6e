import { expect, test } from "vitest";
import { ASSUMED } from "../../lib/simulate/assumptions.ts";
import { updateSeconds } from "../../lib/simulate/weight-update.ts";

const bytes = 28.8e9;
const { nodeBandwidth, networkBandwidth, hostBandwidth } = ASSUMED;
const over = (link: number) => bytes / link + bytes / hostBandwidth;

test("with a trainer on each node no weights cross the network, however many actors a node has", () => {
  for (const [actors, trainers] of [
    [32, 32],
    [56, 8],
    [8, 56],
  ] as const)
    expect(updateSeconds({ bytes, actors, trainers, nodes: 8 })).toBeCloseTo(over(nodeBandwidth), 9);
});

test("a node without a trainer gets the weights over the network, at the network's rate", () => {
  expect(updateSeconds({ bytes, actors: 32, trainers: 4, nodes: 8 })).toBeCloseTo(over(networkBandwidth), 9);
  expect(updateSeconds({ bytes, actors: 7, trainers: 1, nodes: 1 })).toBeCloseTo(over(nodeBandwidth), 9);
  expect(updateSeconds({ bytes: bytes / 2, actors: 8, trainers: 1, nodes: 2 })).toBeCloseTo(
    over(networkBandwidth) / 2,
    9,
  );
});
