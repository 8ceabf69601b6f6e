import { expect, test } from "vitest";
import { defineRecipe, overrideRecipe } from "../../lib/config/index.ts";
import { minimal } from "./recipes.ts";

test("overrides are typed, follow derived defaults and name what is unknown", () => {
  const recipe = defineRecipe(minimal());
  const set = overrideRecipe(recipe, ["training.groupsPerStep=8", "optimizer.lr=2e-4", "name=other"]);
  expect(set.training.credits).toBe(16);
  expect(overrideRecipe(recipe, ["name=a=b"]).name).toBe("a=b");
  expect(set.optimizer.lr).toBe(2e-4);
  expect(set.name).toBe("other");
  expect(() => overrideRecipe(recipe, ["trainning.steps=1"])).toThrow(/did you mean training\?/);
  expect(() => overrideRecipe(recipe, ["training.stepps=1"])).toThrow(/did you mean steps\?/);
  expect(() => overrideRecipe(recipe, ["training.steps=many"])).toThrow(/training.steps: is "many"/);
  expect(() => overrideRecipe(recipe, ["steps"])).toThrow(/path=value/);
});

test("overriding a section the recipe left out starts from its defaults", () => {
  expect(overrideRecipe(defineRecipe(minimal()), ["objective.klCoef=0.1"]).objective).toMatchObject({
    klCoef: 0.1,
    kind: "gspo",
  });
});
