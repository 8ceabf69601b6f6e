import { expect, test } from "vitest";
import { fitMachine } from "../../lib/simulate/fit.ts";
import { simulate } from "../../lib/simulate/simulation.ts";
import { average } from "../../lib/simulate/step-times.ts";
import { recipeOf } from "./machines.ts";
import { FLEET_TRUTH, recordedFleet } from "./recorded-run.ts";

const sync = (actors: number) =>
  recipeOf(
    { steps: 20, countGroups: "completed", schedule: "sync", groupsPerStep: 2 },
    { hardware: { processes: { actors, trainers: 1 } } },
  );

test("what the log leaves over is what groups cost beside the engine, and the run itself is simulated as it was", async () => {
  const { machine, outcomes } = await fitMachine(recordedFleet());
  const { cores, perGroup, service, update } = machine.shared!;
  expect({ cores, update }).toEqual({ cores: 2, update: FLEET_TRUTH.update });
  // the core seconds of a step's two groups outside engine and trainer
  expect(2 * perGroup * service).toBeCloseTo(FLEET_TRUTH.beside, 9);
  expect(service).toBeLessThanOrEqual(cores + 1e-9);
  const run = await simulate(sync(1), machine, outcomes(0));
  const waiting = average(run.steps.slice(3).map((step) => step.waiting));
  expect(waiting / FLEET_TRUTH.waiting).toBeCloseTo(1, 2);
});

test("more actors never make it slower than their weights do, nor faster than the cores allow", async () => {
  const { machine, outcomes } = await fitMachine(recordedFleet());
  const stepOf = async (actors: number) =>
    (await simulate(sync(actors), { ...machine, actors }, outcomes(0))).secondsPerStep;
  const [one, three] = [await stepOf(1), await stepOf(3)];
  expect(three).toBeLessThan(one + 2 * FLEET_TRUTH.update + 1e-6);
  expect(three).toBeGreaterThan(FLEET_TRUTH.beside / 2);
});

test("other logs are refused with what to do", async () => {
  for (const wrong of [{ schedule: "async" as const }, { actors: 2 }, { trainers: 0 }, { counted: false }])
    await expect(fitMachine(recordedFleet(wrong))).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
});
