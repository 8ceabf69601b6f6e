// Deliberate faults (mutants) that these tests detect: a warm-up of 50 steps whatever the run's length; a default
// that replaces the recipe's value.
import { expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { minimal } from "./recipes.ts";

test.each([
  [0, 0],
  [9, 0],
  [40, 4],
  [499, 49],
  [500, 50],
  [10_000, 50],
])("of %i steps the warm-up is %i when left out", (steps, warmup) => {
  const training = { steps, groupsPerStep: 4 };
  const warmStart = { steps, mixture: { math: 1 } };
  const recipe = defineRecipe({ ...minimal(), training, warmStart });
  expect(recipe.optimizer.warmupSteps).toBe(warmup);
  expect(recipe.warmStart?.warmupSteps).toBe(warmup);
});

const FOLDER = { folder: "org/name" };
test.each([
  ["a new model", {}, 2.5e-4],
  ["adapters of a new model", { lora: {} }, 2.5e-3],
  ["a published model", { model: FOLDER }, 5e-6],
  ["adapters of a published model", { model: FOLDER, lora: {} }, 5e-5],
])("the learning rate of %s, when left out, and what the recipe says instead", (_, rest, lr) => {
  const recipe = { ...minimal(), ...rest };
  expect(defineRecipe(recipe).optimizer.lr).toBe(lr);
  expect(defineRecipe({ ...recipe, optimizer: { lr: 1e-6 } }).optimizer.lr).toBe(1e-6);
  const recorded = JSON.parse(JSON.stringify(defineRecipe(recipe))) as RecipeInput;
  expect(defineRecipe({ ...recorded, lora: undefined }).optimizer.lr).toBe(lr);
});

test("what the recipe says holds, and a recipe as run.json keeps it has the warm-up of its run", () => {
  const said = defineRecipe({ ...minimal(), optimizer: { warmupSteps: 50 } });
  expect(said.optimizer.warmupSteps).toBe(50);
  const recorded = JSON.parse(JSON.stringify(defineRecipe(minimal()))) as RecipeInput;
  recorded.training = { ...recorded.training, steps: 1000 };
  expect(defineRecipe(recorded).optimizer.warmupSteps).toBe(1);
  expect(defineRecipe(minimal()).warmStart).toBeUndefined();
});

test("a recipe without lengthPenalty has none; a buffer alone makes it difficulty-aware", () => {
  const { lengthPenalty: _, ...without } = minimal();
  expect(defineRecipe(without).lengthPenalty.kind).toBe("none");
  expect(defineRecipe({ ...without, lengthPenalty: { bufferTokens: 8 } }).lengthPenalty.kind).toBe("dap");
});
