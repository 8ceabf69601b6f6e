import { expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../../lib/config/index.ts";
import { PUBLISHED_CONFIGS } from "../../../lib/inference/index.ts";
import {
  expectSentReference,
  expectSentTeacher,
} from "../../../lib/orchestration/setup/sent-distributions.ts";
import { tinyInput } from "../../e2e/tiny-recipe.ts";

const configOf = (model: keyof typeof PUBLISHED_CONFIGS) => JSON.stringify(PUBLISHED_CONFIGS[model]);
const SMALL = configOf("Qwen/Qwen3-0.6B"); // the model's head has 594 MiB
const LARGE = configOf("Qwen/Qwen3-4B"); // 1484 MiB
const KL = { kind: "dapo", klCoef: 0.1, klEstimator: "full" } as const;
const TRAINERS = { hardware: { processes: { actors: 1, trainers: 1 } } };

const { advantages: _, ...input } = tinyInput();
const recipeOf = (rest: Partial<RecipeInput>) => defineRecipe({ ...input, ...rest } as RecipeInput);
const taught = (divergence: object, rest: Partial<RecipeInput> = TRAINERS) =>
  recipeOf({ teacher: { folder: "./t", divergence }, ...rest });

test("a head and a step's hidden states fit a message to the processes that train, or are refused with what to do", () => {
  expect(() => expectSentTeacher(taught({}), SMALL)).not.toThrow();
  expect(() => expectSentTeacher(taught({}), LARGE)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_CONFIG",
      message: expect.stringContaining("a head of 1484 MiB would be sent to the processes that train"),
      hint: expect.stringContaining("teacher.divergence.topK"),
    }),
  );
  const rollouts = { ...input.rollouts, groupSize: 64, maxOutputTokens: 4096 };
  const { config } = input.model as { config: object };
  const model = { config: { ...config, maxPositions: 8192 } } as RecipeInput["model"];
  const long = { ...TRAINERS, model, rollouts, training: { ...input.training, groupsPerStep: 8 } };
  expect(() => expectSentTeacher(taught({}, long), SMALL)).toThrow(
    "up to 8192 MiB of a step of 2097152 tokens would be sent",
  );
  expect(() => expectSentTeacher(taught({ topK: 50 }, long), LARGE)).not.toThrow();
  expect(() => expectSentTeacher(taught({ topK: 100 }, long), LARGE)).toThrow("up to 1600 MiB");
});

test("the same of a reference's, and of neither where this process trains or sampled tokens alone are learnt from", () => {
  expect(() => expectSentReference(recipeOf({ objective: KL, ...TRAINERS }), LARGE)).toThrow(
    /objective\.klEstimator: a head of 1484 MiB/,
  );
  expect(() =>
    expectSentReference(recipeOf({ objective: { ...KL, klTopK: 20 }, ...TRAINERS }), LARGE),
  ).not.toThrow();
  expect(() => expectSentReference(recipeOf({ objective: KL }), LARGE)).not.toThrow();
  expect(() => expectSentReference(recipeOf(TRAINERS), LARGE)).not.toThrow();
  expect(() => expectSentTeacher(taught({}, {}), LARGE)).not.toThrow();
});
