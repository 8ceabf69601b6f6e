// Deliberate faults (mutants) that these tests detect: an override loses functions, all functions have one hash,
// white space changes the hash, a function elsewhere in a recipe is accepted.
import { expect, test } from "vitest";
import { defineRecipe, overrideRecipe, recipeInput, rewardFunctions } from "../../lib/config/index.ts";
import { changed, issuesOf } from "./recipes.ts";

const half = () => 0.5;
const one = async () => 1;
const recipeOf = (changes: Readonly<Record<string, unknown>>) => defineRecipe(changed(changes) as never);

test("a function is kept beside the recipe, and in it by name, hash and place", () => {
  const recipe = recipeOf({ "domains.math.reward": half });
  expect(rewardFunctions(recipe)).toEqual(new Map([["reward:math", half]]));
  expect(recipe.domains["math"]!.reward).toEqual({
    function: "half",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    process: "main",
  });
  const kept = JSON.parse(JSON.stringify(recipe));
  expect(defineRecipe(kept)).toEqual(recipe);
  expect(rewardFunctions(defineRecipe(kept)).size).toBe(0);
});

test("functions of validation sets too, by the sets' names", () => {
  const sets = {
    brief: { source: "procedural/math", reward: half },
    both: { source: "procedural/math", rewards: { a: { weight: 1, reward: one } } },
  };
  const recipe = recipeOf({ "domains.math.reward": one, "evaluation.sets": sets });
  expect([...rewardFunctions(recipe)]).toEqual([
    ["reward:math", one],
    ["reward:brief", half],
    ["part:both:a", one],
  ]);
  expect(recipe.evaluation.sets["brief"]!.reward).toMatchObject({ function: "half", process: "main" });
  expect(rewardFunctions(overrideRecipe(recipe, ["optimizer.lr=1e-5"])).get("reward:brief")).toBe(half);
  expect(defineRecipe(JSON.parse(JSON.stringify(recipe)))).toEqual(recipe);
});

test("several, with limits, in the order of their names", () => {
  const rewards = {
    first: { weight: 1, reward: { function: one, timeoutMs: 9, concurrency: 2 } },
    second: { weight: 2, reward: half },
    third: { weight: 1, reward: "verifier" },
  };
  const recipe = recipeOf({ "domains.math.rewards": rewards });
  expect(recipe.domains["math"]!.rewards!["first"]!.reward).toMatchObject({
    function: "one",
    timeoutMs: 9,
    concurrency: 2,
  });
  expect([...rewardFunctions(recipe)]).toEqual([
    ["part:math:first", one],
    ["part:math:second", half],
  ]);
});

test("overrides and further definitions keep functions; a reward set in its place replaces one", () => {
  const recipe = recipeOf({ "domains.math.reward": half });
  const slower = overrideRecipe(recipe, ["optimizer.lr=1e-5"]);
  expect(rewardFunctions(slower).get("reward:math")).toBe(half);
  expect(recipeInput(slower).domains["math"]!.reward).toEqual({ function: half });
  const other = overrideRecipe(recipe, ["domains.math.reward=./mine.ts"]);
  expect([other.domains["math"]!.reward, rewardFunctions(other).size]).toEqual(["./mine.ts", 0]);
});

test("the hash is of the source, but for the spaces that loaders put where types were", () => {
  const hash = (reward: unknown) =>
    JSON.stringify(recipeOf({ "domains.math.reward": reward }).domains["math"]);
  const [a, b] = [new Function("x", "return  x"), new Function("x", "return\n x")];
  expect(hash(a)).toBe(hash(b));
  expect(hash(a)).not.toBe(hash(new Function("x", "return -x")));
  expect(
    recipeOf({
      "domains.math.reward": (
        () => () =>
          1
      )(),
    }).domains["math"]!.reward,
  ).toMatchObject({
    function: "anonymous",
  });
});

test("functions anywhere else are still no plain data", () => {
  const issues = issuesOf(changed({ "domains.math.source": half, "domains.math.reward": half }));
  expect(issues).toEqual([
    { path: "domains.math.source", message: expect.stringContaining("a function (half)") },
  ]);
  const deeper = issuesOf(changed({ "domains.math.reward": { function: half, timeoutMs: half } }));
  expect(deeper[0]!.path).toBe("domains.math.reward.timeoutMs");
});
