import { expect, test } from "vitest";
import { simulate } from "../../lib/simulate/simulation.ts";
import { sweepVariants } from "../../lib/simulate/sweep.ts";
import { machineOf, recipeOf } from "./machines.ts";

test("every cell is the run of its own machine", async () => {
  const machine = machineOf({ gpus: 4, actors: 2, trainers: 2 });
  const swept = await sweepVariants("split", recipeOf(), machine);
  expect(swept.map(({ name }) => name)).toEqual(["1:3", "2:2", "3:1"]);
  expect(swept[1]!.run).toEqual(await simulate(recipeOf(), machine));
  expect(swept[0]!.run.seconds).toBeGreaterThan(swept[1]!.run.seconds);
});
