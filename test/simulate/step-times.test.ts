import { expect, test } from "vitest";
import { STEP_STAGES } from "../../lib/metrics/index.ts";
import { average, mean, trainSeconds } from "../../lib/simulate/step-times.ts";

test("a step of the trainer is the sum of its parts, and a mean is of the steps that say something", () => {
  const metrics = { "time/forward": 1, "time/backward": 2, "time/publishing": 0.5, "time/waiting": 9 };
  expect(trainSeconds({ metrics })).toBe(3.5);
  const all = Object.fromEntries(STEP_STAGES.map((name, i) => [`time/${name}`, 2 ** i]));
  // The sum of all times except logging, checkpointing, waiting and other.
  expect(trainSeconds({ metrics: all })).toBe(2 ** 12 - 2 ** 3);
  expect(mean([{ metrics: { a: 1 } }, { metrics: {} }, { metrics: { a: 4 } }], "a")).toBe(2.5);
  expect(average([])).toBe(0);
});
