import { expect, test } from "vitest";
import { simulate } from "../../lib/simulate/simulation.ts";
import { sweepVariants } from "../../lib/simulate/sweep.ts";
import { duration, runText, sweepTable, sweepText } from "../../lib/simulate/tables.ts";
import { machineOf, recipeOf } from "./machines.ts";

test("a duration is in the unit that people would choose", () => {
  expect([5, 119.94, 120, 7199, 7200, 129_600].map(duration)).toEqual([
    "5.0 s",
    "119.9 s",
    "2.0 min",
    "120.0 min",
    "2.0 h",
    "36.0 h",
  ]);
});

test("a run in lines of 80 columns, with its bottleneck", async () => {
  const machine = machineOf();
  const text = runText("mine", machine, await simulate(recipeOf(), machine));
  expect(text).toMatch(/^mine, simulated: 2 engines, 1 trainers \(a test\)$/m);
  expect(text).toMatch(/^ {2}time +\d+\.\d (s|min) for 20 steps, \d+ GPU-hours$/m);
  expect(text).toMatch(/^ {2}math +60\.0 % +\d\d\.\d % +\d\d\.\d\d %$/m);
  expect(text).toMatch(/waits for rollouts/);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(text).not.toContain("an update");
  const update = { bytes: 28.8e9, seconds: 1.344 };
  const sending = machineOf({ trainer: { ...machine.trainer, update } });
  const sent = runText("mine", sending, await simulate(recipeOf(), sending));
  expect(sent).toMatch(/^ {2}an update +28\.8 GB in 1\.3 s \(deadline 9\.7 min\), engines pause 0\.5 s$/m);
  for (const line of sent.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const slow = machineOf({ trainer: { fixed: 900, perToken: 0, perSquaredToken: 0, between: 0 } });
  expect(runText("mine", slow, await simulate(recipeOf(), slow))).toMatch(/trainer is the bottleneck/);
});

test("a sweep as a row a cell and bars as long as its times", async () => {
  const swept = await sweepVariants("split", recipeOf(), machineOf({ gpus: 4, actors: 2, trainers: 2 }));
  expect(sweepTable(swept).rows.map(([cell]) => cell)).toEqual(["1:3", "2:2 *", "3:1"]);
  const text = sweepText("mine", swept);
  const bars = [...text.matchAll(/█+/g)].map(([bar]) => bar.length);
  const longest = swept[0]!.run.seconds;
  expect(bars).toEqual(swept.map(({ run }) => Math.round((40 * run.seconds) / longest)));
  expect(text).toMatch(/^Least time: 3:1, /m);
});
