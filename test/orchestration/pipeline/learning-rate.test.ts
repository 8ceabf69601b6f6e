import { expect, test } from "vitest";
import { learningRateFactor } from "../../../lib/orchestration/pipeline/learning-rate.ts";

test("warms up linearly and then stays", () => {
  const shape = { warmupSteps: 4, schedule: "constant", finalFraction: 0.1 } as const;
  expect([0, 1, 3, 4, 99].map((step) => learningRateFactor(step, 100, shape))).toEqual([0.25, 0.5, 1, 1, 1]);
});

test("a cosine is the formula of the warm start's reference: min(1,(t+1)/w) (.1 + .9 (1+cos(pi t/T))/2)", () => {
  const shape = { warmupSteps: 50, schedule: "cosine", finalFraction: 0.1 } as const;
  const expected = (t: number) =>
    Math.min(1, (t + 1) / 50) * (0.1 + 0.9 * 0.5 * (1 + Math.cos((Math.PI * t) / 1000)));
  for (const t of [0, 25, 500, 999]) expect(learningRateFactor(t, 1000, shape)).toBeCloseTo(expected(t), 12);
});

test("a linear schedule is that of transformers' get_linear_schedule_with_warmup, one step later in the warm-up", () => {
  const shape = { warmupSteps: 2, schedule: "linear", finalFraction: 0 } as const;
  const factors = [0, 1, 2, 3, 4, 5].map((step) => learningRateFactor(step, 6, shape));
  expect(factors).toEqual([0.5, 1, 1, 0.75, 0.5, 0.25]);
  const held = { ...shape, finalFraction: 0.2 };
  expect(learningRateFactor(4, 6, held)).toBeCloseTo(0.6, 12);
  expect(learningRateFactor(0, 1, { ...shape, warmupSteps: 1 })).toBe(1); // as many steps as the warm-up has
});

test("without warm-up the first step has the whole rate", () => {
  expect(learningRateFactor(0, 10, { warmupSteps: 0, schedule: "constant", finalFraction: 0 })).toBe(1);
});
