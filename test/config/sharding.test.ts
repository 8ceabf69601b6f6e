import { expect, test } from "vitest";
import { overrideRecipe, shardingOf } from "../../lib/config/index.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const of = (...assignments: string[]) => shardingOf(overrideRecipe(smallRecipe(), assignments));
const processes = (trainers: number) => [
  "hardware.processes.actors=2",
  `hardware.processes.trainers=${trainers}`,
];

test("several trainers divide AdamW's moments exactly; one, or none, what the recipe names", () => {
  expect(of()).toBeUndefined();
  expect(of(...processes(1))).toBeUndefined();
  expect(of(...processes(2))).toEqual({ stage: "optimizer", exact: true, sequence: 1 });
  expect(of("hardware.sharding.exact=false")).toEqual({ stage: "optimizer", exact: false, sequence: 1 });
  expect(of(...processes(3), "hardware.sharding.stage=gradients")).toMatchObject({ stage: "gradients" });
});

test.each([
  ["adapters", ["lora.rank=4"], /a run with lora has too few/],
  [
    "a warm start by Muon",
    ["warmStart.optimizer=muon", "warmStart.steps=1", 'warmStart.mixture={"math":1}'],
    /Muon updates whole matrices/,
  ],
  ["inner products", ["metrics.gradients.everySteps=2"], /compares them whole/],
])("gradients are not divided where there are %s", (_, assignments, message) => {
  for (const stage of ["gradients", "parameters"])
    expect(() => of(`hardware.sharding.stage=${stage}`, ...assignments)).toThrow(message);
});

test.each([
  ["heads", ["model.config.heads=3"], /is 2, which does not divide model\.config\.heads 3/],
  [
    "heads of keys and values",
    ["model.config.heads=4", "model.config.kvHeads=1"],
    /model\.config\.kvHeads 1/,
  ],
  ["trainers", ["model.config.heads=2", ...processes(3)], /does not divide hardware\.processes\.trainers 3/],
  [
    "GPUs that train",
    ["model.config.heads=2", "device=cuda", "hardware.gpus=8", "hardware.actorGpus=5"],
    /does not divide hardware\.gpus - actorGpus 3/,
  ],
])("trainers that have micro-batches together divide %s", (_, assignments, message) => {
  const sequence = "hardware.sharding.sequence=2";
  expect(() => of(sequence, ...assignments)).toThrow(message);
  for (const trainers of [1, 2, 4])
    expect(of(sequence, "model.config.heads=2", ...processes(trainers))?.sequence).toBe(2);
});
