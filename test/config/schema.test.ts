import { expect, test } from "vitest";
import { defineRecipe, maxContext, recipeJsonSchema } from "../../lib/config/index.ts";
import { minimal } from "./recipes.ts";

test("defaults are those of the architecture where the paper is silent", () => {
  const recipe = defineRecipe(minimal());
  expect(recipe).toMatchObject({
    seed: 0,
    sampler: "adaptive",
    advantages: { baseline: "mean", divideBy: "population-std", filter: "score" },
    objective: {
      kind: "gspo",
      sequenceWeight: "uniform",
      clipLow: 3e-3,
      clipHigh: 4e-3,
      klCoef: 0,
      entropyCoef: 0,
      correction: { kind: "none" },
    },
    optimizer: { gradientClip: 0.3, warmupSteps: 1, schedule: "constant" },
    rollouts: { groupSize: 8, temperature: 1, topP: 1 },
    lengthPenalty: { kind: "dap", solveRateExponent: 1, incorrectScale: 1 },
    training: { schedule: "async", maxLag: 1, countGroups: "completed" },
  });
});

test("the JSON Schema knows every section", () => {
  const schema = recipeJsonSchema() as { properties: object; required: string[] };
  expect(Object.keys(schema.properties)).toEqual(
    expect.arrayContaining(["objective", "lengthPenalty", "warmStart"]),
  );
  expect(schema.required).toContain("rollouts");
});

test("a context is prompt and response", () => {
  expect(maxContext(defineRecipe(minimal()))).toBe(128);
});
