import { expect, test } from "vitest";
import { engineOptions, rlOptimizer, trainerOptions } from "../../../lib/orchestration/setup/core.ts";
import { smallRecipe } from "../small-recipe.ts";

const neverAsked = () => {
  throw new Error("bytes of tokens are for stop strings");
};

test("the engine gets the whole context and the run's seed", () => {
  expect(engineOptions(smallRecipe(), "f32", neverAsked)).toMatchObject({
    maxContext: 88,
    runSeed: 7n,
    maxRunning: 64,
    pages: 64 * 7,
  });
});

test("bytes of tokens are handed over where stop strings are given", () => {
  const rollouts = { maxOutputTokens: 24, maxPromptTokens: 64, stopStrings: ["\n\n"] };
  const bytes = [Uint8Array.of(1)];
  expect(engineOptions(smallRecipe({}, { rollouts }), "f32", () => bytes).tokenBytes).toBe(bytes);
});

test("routes are recorded where training replays them, not in evaluation", () => {
  const replaying = smallRecipe({}, { objective: { router: { replay: true } } });
  expect(engineOptions(replaying, "f32", neverAsked).routes).toBe(true);
  expect(engineOptions(replaying, "f32", neverAsked, "evaluation")).not.toHaveProperty("routes");
  const balanced = smallRecipe({}, { objective: { router: { zCoef: 0.1 } } });
  expect(engineOptions(balanced, "f32", neverAsked)).not.toHaveProperty("routes");
});

test("rows of the head's gradient are the recipe's, 2048 where it says nothing", () => {
  expect(trainerOptions(smallRecipe(), "f32").headRows).toBe(2048);
  expect(trainerOptions(smallRecipe({ headRows: 4096 }), "f32").headRows).toBe(4096);
  expect(() => smallRecipe({ headRows: 3000 as 2048 })).toThrow("headRows");
});

test("engine and trainer multiply in the arithmetic of the run", () => {
  for (const arithmetic of ["f32", "bf16"] as const) {
    expect(engineOptions(smallRecipe(), arithmetic, neverAsked).arithmetic).toBe(arithmetic);
    expect(trainerOptions(smallRecipe(), arithmetic).arithmetic).toBe(arithmetic);
  }
});

test("training takes AdamW with the recipe's numbers", () => {
  const recipe = smallRecipe({}, { optimizer: { beta2: 0.99, gradientClip: 2 } });
  expect(rlOptimizer(recipe)).toMatchObject({
    kind: "adamw",
    beta1: 0.9,
    beta2: 0.99,
    gradientClip: 2,
    weightDecay: 0,
    moments: "f32",
    seed: 7n,
  });
  expect(rlOptimizer(smallRecipe({}, { optimizer: { moments: "bf16" } })).moments).toBe("bf16");
  expect(rlOptimizer(recipe).memory).toBe("device");
  expect(rlOptimizer(smallRecipe({}, { hardware: { optimizerMemory: "host" } })).memory).toBe("host");
});
