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

test("two bad assignments are both told, whatever is wrong with each", () => {
  const recipe = defineRecipe(minimal());
  for (const pair of [
    ["nope.x=2", "training.stepz=3"],
    ["nope.x=2", "training.steps=many"],
    ["steps", "optimizer.lr=x"],
  ])
    expect(() => overrideRecipe(recipe, pair)).toThrow(
      new RegExp(`--set: 2 problem.*${pair[0]!.split("=")[0]}.*${pair[1]!.split("=")[0]}`, "s"),
    );
});

test("overriding a section the recipe left out starts from its defaults", () => {
  expect(overrideRecipe(defineRecipe(minimal()), ["objective.klCoef=0.1"]).objective).toMatchObject({
    klCoef: 0.1,
    kind: "gspo",
  });
});

test.each(["__proto__", "constructor", "prototype"])("%s is no name in a path or a value", (name) => {
  const recipe = defineRecipe(minimal());
  const refused = new RegExp(`${name}.* reserves`);
  for (const assignment of [
    `verification.modules.${name}="./mine.mjs"`,
    `${name}.training.steps=1`,
    `domains.${name}.weight=1`,
    `verification.modules={"${name}":"./mine.mjs"}`,
    `chatTemplate={"variables":{"deep":[{"${name}":1}]}}`,
  ])
    expect(() => overrideRecipe(recipe, [assignment])).toThrow(refused);
  const written = JSON.parse(`{"verification":{"modules":{"${name}":"./mine.mjs"}}}`) as object;
  expect(() => defineRecipe({ ...minimal(), ...written })).toThrow(refused);
  expect(({} as Record<string, unknown>)["training"]).toBeUndefined();
});

test("a value of a megabyte is refused in little time, by a short message", () => {
  const recipe = defineRecipe(minimal());
  const long = "completed".repeat(2 ** 17);
  const started = performance.now();
  for (const assignment of [`training.countGroups=${long}`, `${long}.steps=1`, `training.${long}=1`])
    expect(lengthOfRefusal(() => overrideRecipe(recipe, [assignment]))).toBeLessThan(3000);
  expect(performance.now() - started).toBeLessThan(1000);
});

function lengthOfRefusal(refused: () => unknown): number {
  try {
    refused();
  } catch (error) {
    return (error as Error).message.length;
  }
  return Number.POSITIVE_INFINITY;
}

test("a folder takes the place of a new model's sizes, and sizes that of a folder", () => {
  const sizes = { width: 32, layers: 1, heads: 1, mlpWidth: 64 };
  const made = defineRecipe({ ...minimal(), model: { config: sizes } });
  const taken = overrideRecipe(made, ["model.folder=org/name"]);
  expect(taken.model).toMatchObject({ folder: "org/name" });
  expect(taken.model.config).toBeUndefined();
  const again = overrideRecipe(taken, [`model.config=${JSON.stringify(sizes)}`]);
  expect(again.model.folder).toBeUndefined();
});
