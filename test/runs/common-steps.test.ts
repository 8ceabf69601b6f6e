import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commonSteps, stepMeans } from "../../lib/runs/common-steps.ts";
import { scratch } from "./folders.ts";

test("the last fifteen steps that every run has done", () => {
  expect(commonSteps([{ steps: 40 }, { steps: 20 }])).toEqual({ from: 6, to: 20 });
  expect(commonSteps([{ steps: 3 }])).toEqual({ from: 1, to: 3 });
  expect(commonSteps([{ steps: 3 }, { steps: 0 }])).toBeUndefined();
  expect(commonSteps([])).toBeUndefined();
});

test("means and their errors of steps within bounds, as a resumed run has them", () => {
  const dir = scratch();
  const line = (step: number, a: number) => `${JSON.stringify({ step, version: step, metrics: { a } })}\n`;
  // step 2 was repeated after a kill
  writeFileSync(
    join(dir, "steps.jsonl"),
    [line(1, 9), line(2, 100), line(2, 1), line(3, 3), line(4, 9)].join(""),
  );
  // 1 and 3: mean 2, variance 2, the mean's error sqrt(2 / 2)
  expect(stepMeans(dir, { from: 2, to: 3 }).get("a")).toEqual({ mean: 2, error: 1 });
  expect(stepMeans(dir, { from: 4, to: 4 }).get("a")).toEqual({ mean: 9 });
  expect(stepMeans(scratch(), { from: 1, to: 3 }).size).toBe(0);
});
