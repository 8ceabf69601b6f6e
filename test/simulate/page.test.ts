import { expect, test } from "vitest";
import { runFigures, runPage, sweepFigures, sweepPage } from "../../lib/simulate/page.ts";
import { simulate } from "../../lib/simulate/simulation.ts";
import { sweepVariants } from "../../lib/simulate/sweep.ts";
import { machineOf, recipeOf } from "./machines.ts";

test("a sweep's page has its table and a line a quantity over the axis", async () => {
  const swept = await sweepVariants("split", recipeOf(), machineOf({ gpus: 4, actors: 2, trainers: 2 }));
  const [hours] = sweepFigures("split", swept);
  expect(hours!.lines![0]!.points).toEqual(swept.map(({ x, run }) => [x, run.hours]));
  const page = sweepPage("mine", "split", swept);
  expect(page.match(/<svg /g)).toHaveLength(4);
  expect(page).toContain("2:2 *");
});

test("a run's page has its text, and its steps as lines", async () => {
  const run = await simulate(recipeOf(), machineOf());
  const [step, mixture] = runFigures(run);
  expect(step!.lines![1]!.points).toEqual(run.steps.map(({ training }, i) => [i + 1, training]));
  const [math, code] = mixture!.lines!.map(({ points }) => points.at(-1)![1]);
  expect(math! + code!).toBeCloseTo(0, 12);
  expect(runPage("mine", machineOf(), run)).toContain("mine, simulated");
});
