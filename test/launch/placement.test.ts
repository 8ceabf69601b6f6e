import fc from "fast-check";
import { expect, test } from "vitest";
import { devicesANode, placeProcesses } from "../../lib/launch/placement.ts";

test("eight nodes with four actors and four trainers each", () => {
  const map = placeProcesses({ actors: 32, trainers: 32 }, 8);
  expect(map).toHaveLength(8);
  const trainer = (rank: number, slot: number) => ({ role: "trainer", rank, worldSize: 32, slot });
  const actor = (rank: number, slot: number) => ({ role: "actor", rank, worldSize: 32, slot });
  expect(map[0]).toEqual(
    [0, 1, 2, 3].map((i) => trainer(i, i)).concat([0, 1, 2, 3].map((i) => actor(i, 4 + i))),
  );
  expect(map[7]).toEqual(
    [0, 1, 2, 3].map((i) => trainer(28 + i, i)).concat([0, 1, 2, 3].map((i) => actor(28 + i, 4 + i))),
  );
});

test("a remainder: one trainer is on the first node, which has one actor less", () => {
  const [first, last] = placeProcesses({ actors: 3, trainers: 1 }, 2);
  expect(first!.map(({ role, rank }) => `${role} ${rank}`)).toEqual(["trainer 0", "actor 0"]);
  expect(last!.map(({ role, rank }) => `${role} ${rank}`)).toEqual(["actor 1", "actor 2"]);
});

test("everybody is somewhere once, in order, and nodes have equal parts", () => {
  const roles = fc.record({
    actors: fc.integer({ min: 1, max: 64 }),
    trainers: fc.integer({ min: 0, max: 64 }),
    verifiers: fc.integer({ min: 0, max: 64 }),
  });
  fc.assert(
    fc.property(roles, fc.integer({ min: 1, max: 64 }), ({ actors, trainers, verifiers }, nodes) => {
      fc.pre(actors + trainers + verifiers >= nodes);
      const map = placeProcesses({ actors, trainers, verifiers }, nodes);
      const ranks = (role: string) =>
        map.flat().flatMap((placement) => (placement.role === role ? [placement.rank] : []));
      expect(ranks("actor")).toEqual(Array.from({ length: actors }, (_, i) => i));
      expect(ranks("trainer")).toEqual(Array.from({ length: trainers }, (_, i) => i));
      expect(ranks("verifier")).toEqual(Array.from({ length: verifiers }, (_, i) => i));
      const sizes = map.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(1);
    }),
  );
});

test("verifier hosts are where fewest others are, behind those that have the GPUs", () => {
  const map = placeProcesses({ actors: 2, trainers: 2, verifiers: 4 }, 3);
  expect(
    map.map((placements) => placements.map(({ role, rank, slot }) => `${role} ${rank} ${slot}`)),
  ).toEqual([
    ["trainer 0 0", "actor 0 1", "verifier 0 2"],
    ["trainer 1 0", "verifier 1 1", "verifier 2 2"],
    ["actor 1 0", "verifier 3 1"],
  ]);
  expect(devicesANode(map)).toBe(2);
  const spare = placeProcesses({ actors: 1, trainers: 0, verifiers: 2 }, 3);
  expect(spare.map((placements) => placements.map(({ role }) => role))).toEqual([
    ["actor"],
    ["verifier"],
    ["verifier"],
  ]);
  const whole = placeProcesses({ actors: 32, trainers: 32, verifiers: 3 }, 8);
  expect([devicesANode(whole), Math.max(...whole.map(({ length }) => length))]).toEqual([8, 9]);
});

test("fewer processes than nodes are refused", () => {
  expect(() => placeProcesses({ actors: 2, trainers: 1 }, 4)).toThrow(
    "2 actors, 1 trainers and 0 verifier hosts are fewer than 4 nodes",
  );
});
