import { expect, test } from "vitest";
import { fitMachine } from "../../lib/simulate/fit.ts";
import { machineSchema } from "../../lib/simulate/machine.ts";
import { simulate } from "../../lib/simulate/simulation.ts";
import { recipeOf } from "./machines.ts";
import { recordedRun, TRUTH } from "./recorded-run.ts";

test("the rates that a log was written with are found again", async () => {
  const dir = recordedRun();
  const { machine, measured } = await fitMachine(dir);
  expect(machineSchema.safeParse(machine).success).toBe(true);
  expect(machine.trainer.fixed).toBeCloseTo(TRUTH.trainFixed, 9);
  expect(machine.trainer.perToken / TRUTH.perToken).toBeCloseTo(1, 9);
  // Batches vary from step to step, so the fit finds the two rates of generation only approximately: the errors here
  // are 0.011 and 0.007.
  expect(Math.abs(machine.actor.speedDuringStep - TRUTH.speed)).toBeLessThan(0.02);
  const step = (batch: number) => machine.actor.decode.fixed + machine.actor.decode.perSequence * batch;
  for (const batch of [4, 6, 8])
    expect(Math.abs(step(batch) / (TRUTH.fixed + TRUTH.perSequence * batch) - 1)).toBeLessThan(0.02);
  expect(machine.domains["math"]).toMatchObject({ keep: 1, length: { mean: 15 }, promptTokens: 12 });
  expect(machine.domains["code"]!.length).toEqual({ mean: 5, cv: 0 });
  expect(machine.domains["math"]!.verify.mean).toBeCloseTo(0.02, 12);
  expect(machine.domains["math"]!.verify.cv).toBeCloseTo(Math.sqrt(Math.E - 1), 9);
  expect(measured.steps).toBe(20);
});

test("a run of its own recipe can be simulated on it", async () => {
  const { machine, outcomes } = await fitMachine(recordedRun());
  const recipe = recipeOf({ steps: 6, countGroups: "completed" });
  const run = await simulate(recipe, machine, outcomes(0));
  expect(run.steps).toHaveLength(6);
  expect(run.meanTokens).toBeGreaterThanOrEqual(5);
  expect(run.meanTokens).toBeLessThanOrEqual(10);
});

test("too few steps are no log to fit", async () => {
  await expect(fitMachine(recordedRun(4))).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
});
