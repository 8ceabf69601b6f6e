import { expect, test } from "vitest";
import { overrideRecipe, type Recipe, type RecipeInput } from "../../lib/config/index.ts";
import { CHANGES, FEWEST_PAGES, PAGES } from "../../lib/plan/changes.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const small = (rest: Partial<RecipeInput> = {}) => smallRecipe({}, rest);
const assignmentsOf = (name: string, recipe = small()) =>
  CHANGES.find((change) => change.name === name)!.assignments(recipe);

test("they stand in the order of their cost, pages twice", () => {
  expect(CHANGES.map(({ name }) => name)).toEqual([
    "engine.stepTokens",
    "training.headRows",
    "training.packedTokens",
    "engine.pages",
    "checkpoint.async",
    "hardware.recompute",
    "hardware.sharding.stage",
    "hardware.optimizerMemory",
    "metrics.gradients.noiseScale",
    "metrics.gradients.everySteps",
    "evaluation.everySteps",
    "optimizer.moments",
    "model.weightStorage",
    "lora",
    "fewest engine.pages",
  ]);
  expect(CHANGES[PAGES]!.name).toBe("engine.pages");
  expect(CHANGES[FEWEST_PAGES]!.name).toBe("fewest engine.pages");
});

test("a change that was made cannot be made again", () => {
  const recipe = small({
    evaluation: { everySteps: 2 },
    checkpoint: { keepBest: 1 },
    metrics: { gradients: { everySteps: 5 } },
  });
  expect(assignmentsOf("metrics.gradients.noiseScale", recipe)).toBeDefined();
  for (const { name, assignments } of CHANGES) {
    const first = assignments(recipe);
    if (first === undefined) continue;
    expect([name, assignments(overrideRecipe(recipe, first))]).toEqual([name, undefined]);
  }
});

test("a micro-batch stays as long as the longest sequence, a step longer than the answers that are decoded", () => {
  expect(assignmentsOf("training.packedTokens")).toEqual(["training.packedTokens=88"]);
  expect(assignmentsOf("training.packedTokens", smallRecipe({ packedTokens: 88 }))).toBeUndefined();
  expect(assignmentsOf("engine.stepTokens")).toEqual(["engine.stepTokens=256"]);
  expect(assignmentsOf("engine.stepTokens", small({ engine: { maxRunning: 400 } }))).toEqual([
    "engine.stepTokens=401",
  ]);
});

test("rows of the head's gradient are fewer only where there are more than the fewest", () => {
  expect(assignmentsOf("training.headRows")).toBeUndefined();
  expect(assignmentsOf("training.headRows", smallRecipe({ headRows: 8192 }))).toEqual([
    "training.headRows=2048",
  ]);
});

test("without evaluations there is no best checkpoint to keep", () => {
  const both = { evaluation: { everySteps: 2 }, checkpoint: { keepBest: 1 } };
  expect(assignmentsOf("evaluation.everySteps", small(both))).toEqual([
    "evaluation.everySteps=0",
    "checkpoint.keepBest=0",
  ]);
  expect(assignmentsOf("evaluation.everySteps", small({ evaluation: { everySteps: 2 } }))).toEqual([
    "evaluation.everySteps=0",
  ]);
});

test("what several trainers could divide further is proposed to them alone", () => {
  const { assignments } = CHANGES.find(({ name }) => name === "hardware.sharding.stage")!;
  const of = (hardware: object) => assignments({ ...smallRecipe(), hardware } as unknown as Recipe);
  expect(of({ processes: { actors: 1, trainers: 2 } })).toEqual(["hardware.sharding.stage=parameters"]);
  expect(of({ processes: { actors: 1, trainers: 1 } })).toBeUndefined();
  const divided = { sharding: { stage: "parameters", exact: true } };
  expect(of({ processes: { actors: 1, trainers: 2 }, ...divided })).toBeUndefined();
  expect(of({})).toBeUndefined();
});
