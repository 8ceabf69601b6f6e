import { expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { tinyInput } from "../e2e/tiny-recipe.ts";

const { advantages: _, ...input } = tinyInput();
const teacher = { folder: "./teacher" };
const objective = { kind: "dapo", clipLow: 0.2, clipHigh: 0.28 } as const;

test("the teacher alone is learnt from unless the recipe weighs the reward too", () => {
  expect(defineRecipe({ ...input, objective, teacher }).teacher).toEqual({
    ...teacher,
    coef: 1,
    rewardCoef: 0,
  });
  const both = { ...teacher, coef: 0.1, rewardCoef: 1 };
  expect(defineRecipe({ ...input, objective, teacher: both }).teacher).toEqual(both);
});

test("groups of equal scores are trained on with a teacher, unless the recipe says otherwise", () => {
  const filterOf = (rest: object) => defineRecipe({ ...input, objective, ...rest }).advantages.filter;
  expect(filterOf({})).toBe("score");
  expect(filterOf({ teacher })).toBe("none");
  expect(filterOf({ teacher, advantages: { filter: "reward" } })).toBe("reward");
});

test("of whole distributions any objective learns, and the divergence is half-way between the two KLs unless it says so", () => {
  const of = (divergence: object) => defineRecipe({ ...input, teacher: { ...teacher, divergence } }).teacher;
  expect(of({})).toMatchObject({ divergence: { beta: 0.5 } });
  expect(of({ beta: 0, topK: 20 })).toMatchObject({ divergence: { beta: 0, topK: 20 } });
  expect(() => of({ beta: 1.5 })).toThrow("teacher.divergence.beta");
  expect(() => of({ topK: 1 })).toThrow("teacher.divergence.topK");
});

const endpoint = { url: "http://localhost:8000/v1", model: "big" };

test.each([
  [{ teacher: { coef: 1 } }, "names no teacher: give folder, or endpoint"],
  [{ teacher: { ...teacher, endpoint } }, "a recipe has one teacher"],
  [
    { teacher: { endpoint, divergence: {} } },
    "no log-probs of the whole vocabulary; set teacher.divergence.topK",
  ],
  [{ teacher: { endpoint: { ...endpoint, api: "echo" }, divergence: { topK: 5 } } }, 'has the api "echo"'],
  [
    { teacher: { endpoint }, rollouts: { ...input.rollouts, temperature: 0.7 } },
    "temperature 1, but rollouts.temperature is 0.7",
  ],
] as const)("a recipe that cannot be is refused with the reason: %j", (rest, reason) => {
  expect(() => defineRecipe({ ...input, objective, ...rest } as RecipeInput)).toThrow(reason);
});

test.each([
  { device: "cuda" },
  { hardware: { processes: { actors: 1, trainers: 2 } } },
  { hardware: { processes: { actors: 1, trainers: 2 }, sharding: { stage: "optimizer", sequence: 2 } } },
])("whole distributions are compared wherever a recipe trains: %j", (rest) => {
  const of = (objective: object, more: object) =>
    defineRecipe({ ...input, objective, ...more, ...rest } as RecipeInput);
  expect(of(objective, { teacher: { ...teacher, divergence: {} } }).teacher!.divergence).toBeDefined();
  const full = { ...objective, klCoef: 0.1, klEstimator: "full" };
  expect(of(full, {}).objective).toMatchObject({ klEstimator: "full" });
});

test("an objective with one advantage a sequence is refused, and the error has one that works", () => {
  expect(() => defineRecipe({ ...input, teacher })).toThrow(
    /objective\.kind: is "gspo", which has one advantage/,
  );
  expect(() => defineRecipe({ ...input, teacher })).toThrow('{ kind: "dapo", clipLow: 0.2, clipHigh: 0.28 }');
  expect(() => defineRecipe({ ...input, objective, teacher: { ...teacher, coef: 0 } })).toThrow(
    "teacher.coef",
  );
});
