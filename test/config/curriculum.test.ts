import { expect, test } from "vitest";
import { defineRecipe, type RecipeInput, recipeDemands } from "../../lib/config/index.ts";
import { hashAt } from "../../lib/config/source-hash.ts";
import { changed, issuesOf } from "./recipes.ts";

const withRule = (curriculum: unknown) => changed({ "domains.math.curriculum": curriculum });
const ruleOf = (curriculum: unknown) =>
  defineRecipe(withRule(curriculum) as RecipeInput).domains["math"]!.curriculum;

test("defaults, and a module with the hash of its file", () => {
  expect(defineRecipe(changed({}) as RecipeInput).domains["math"]!.curriculum).toBeUndefined();
  expect(ruleOf({ solveRate: {} })).toEqual({ smoothing: 0.5, solveRate: { floor: 0.05 }, again: 50 });
  expect(ruleOf({ difficulty: { steps: 9 } })).toMatchObject({ difficulty: { from: 0.25, steps: 9 } });
  const module = import.meta.filename;
  const weight = { module: `${module}#mine`, sha256: hashAt(module) };
  expect(ruleOf({ weight: `${module}#mine` })).toMatchObject({ weight });
  const recipe = defineRecipe(withRule({ weight: `${module}#mine` }) as RecipeInput);
  expect(recipeDemands(recipe, ["curriculum"])).toEqual([
    expect.objectContaining({ field: "domains.math.curriculum.weight", sha256: weight.sha256 }),
  ]);
  expect(recipeDemands(recipe, ["problems", "verifiers", "objective"])).toEqual([]);
});

test.each([
  ["nothing", {}, "domains.math.curriculum", "has no rule for choosing problems"],
  [
    "a window upside down",
    { window: [0.9, 0.1] },
    "domains.math.curriculum.window",
    "must be below the second",
  ],
  [
    "a module that is not there",
    { weight: "./gone.ts" },
    "domains.math.curriculum.weight.module",
    "no such file",
  ],
  ["no step", { difficulty: { steps: 0 } }, "domains.math.curriculum.difficulty.steps", ""],
  ["an average of nothing", { solveRate: {}, smoothing: 0 }, "domains.math.curriculum.smoothing", ""],
])("%s is refused with its path", (_, rule, path, message) => {
  const [issue] = issuesOf(withRule(rule));
  expect(issue).toMatchObject({ path, message: expect.stringContaining(message) });
});
