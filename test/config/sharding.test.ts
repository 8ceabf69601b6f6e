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
  expect(of(...processes(2))).toEqual({ stage: "optimizer", exact: true });
  expect(of("hardware.sharding.exact=false")).toEqual({ stage: "optimizer", exact: false });
  expect(of(...processes(3), "hardware.sharding.stage=gradients")).toMatchObject({ stage: "gradients" });
});

test.each([
  ["adapters", ["lora.rank=4"], /adapters have few/],
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
