import { expect, test } from "vitest";
import { variantsOf } from "../../lib/simulate/variants.ts";
import { machineOf, recipeOf } from "./machines.ts";

const cluster = machineOf({ gpus: 16, actors: 8, trainers: 8, verifierWorkers: 16 });

test("splits keep the GPUs and share a step's work among those that train", () => {
  const splits = variantsOf("split", recipeOf(), cluster);
  expect(splits.map(({ name }) => name)).toEqual(["2:14", "4:12", "6:10", "8:8", "10:6", "12:4", "14:2"]);
  expect(splits.filter(({ own }) => own).map(({ x }) => x)).toEqual([8]);
  for (const { machine } of splits) {
    expect(machine.actors + machine.trainers).toBe(16);
    expect(machine.trainer.perToken * machine.trainers).toBeCloseTo(cluster.trainer.perToken * 8, 12);
    expect(machine.actor).toEqual(cluster.actor);
  }
});

test("nodes keep the split, and bring verifiers of their own", () => {
  const nodes = variantsOf("nodes", recipeOf(), cluster);
  expect(nodes.map(({ name, machine: m }) => [name, m.actors, m.trainers, m.verifierWorkers])).toEqual([
    ["1 node", 4, 4, 8],
    ["2 nodes", 8, 8, 16],
    ["4 nodes", 16, 16, 32],
    ["8 nodes", 32, 32, 64],
    ["16 nodes", 64, 64, 128],
  ]);
  expect(nodes.find(({ own }) => own)!.x).toBe(2);
});

test("lags change the recipe and what follows from it", () => {
  const lags = variantsOf("lag", recipeOf(), cluster);
  expect(lags.map(({ recipe: { training: t } }) => [t.maxLag, t.credits])).toEqual([
    [0, 8],
    [1, 16],
    [2, 24],
    [4, 40],
    [8, 72],
  ]);
});

test("a machine whose devices do both has nothing to split", () => {
  const shared = machineOf({ gpus: 1, actors: 1, trainers: 1 });
  expect(() => variantsOf("split", recipeOf(), shared)).toThrow(/GPUs that generate/);
  expect(variantsOf("lag", recipeOf(), shared)).toHaveLength(5);
});
