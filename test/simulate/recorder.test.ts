import { expect, test } from "vitest";
import { simulate } from "../../lib/simulate/simulation.ts";
import { machineOf, recipeOf } from "./machines.ts";

test("a run's numbers follow from its steps", async () => {
  const machine = machineOf();
  const run = await simulate(recipeOf(), machine);
  const { steps, seconds } = run;
  expect(steps).toHaveLength(20);
  expect(seconds).toBe(steps.at(-1)!.end);
  expect(run.gpuHours).toBeCloseTo((machine.gpus * seconds) / 3600, 9);
  expect(run.secondsPerStep).toBeCloseTo(seconds / 20, 9);
  expect(steps.reduce((sum, step) => sum + step.waiting + step.training, 0)).toBeCloseTo(seconds, 6);
  expect(run.busy.trainers).toBeCloseTo(steps.reduce((sum, { training }) => sum + training, 0) / seconds, 9);
  const { math, code } = steps.at(-1)!.completed;
  expect(run.rolloutsPerStep).toBe((math! + code!) / 20);
  expect(run.mixture.shares).toEqual({ math: math! / (math! + code!), code: code! / (math! + code!) });
  expect(run.mixture.mad).toBeCloseTo(Math.abs(run.mixture.shares["math"]! - 0.6), 12);
  const first = steps[0]!.completed;
  expect(run.mixture.first.rollouts).toBe(first["math"]! + first["code"]!);
  for (const { kept, outstanding } of steps) {
    expect(kept).toBe(8);
    expect(outstanding).toBeLessThanOrEqual(24);
  }
});
