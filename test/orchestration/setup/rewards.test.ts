import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { defineRecipe, type RecipeInput, verifierWorkers } from "../../../lib/config/index.ts";
import {
  expectRewards,
  giverText,
  rewardPlan,
  rewardPlans,
  verificationCalls,
} from "../../../lib/orchestration/setup/rewards.ts";
import { minimal } from "../../config/recipes.ts";

const half = () => 0.5;
const recipeOf = (domain: Partial<RecipeInput["domains"][string]>) =>
  defineRecipe({
    ...minimal(),
    domains: {
      math: { weight: 1, source: "procedural/math", ...domain },
      code: { weight: 1, source: "procedural/code" },
    },
  });

test("a domain that says nothing has no plan", () => {
  const recipe = recipeOf({});
  expect([rewardPlans(recipe), rewardPlan(recipe, "code"), verificationCalls(recipe)(1)]).toEqual([
    [],
    undefined,
    1,
  ]);
});

test("as many calls at a time as all hosts have workers", () => {
  const processes = { actors: 1, verifiers: 3 };
  const recipe = defineRecipe({ ...minimal(), hardware: { processes }, verification: { workers: 2 } });
  expect(verificationCalls(recipe)(verifierWorkers(recipe))).toBe(6);
  expect(verificationCalls(recipe)(8), "of hosts that joined").toBe(8);
});

test("a module is named by its URL, from the working folder, with its export", () => {
  const url = pathToFileURL(resolve("mine.ts")).href;
  const plan = rewardPlan(recipeOf({ reward: "./mine.ts#short" }), "math")!;
  expect(plan).toEqual({
    verifier: "reward:math",
    isSum: false,
    parts: [
      { verifier: "reward:math", name: "math", weight: 1, giver: { by: "module", url: `${url}#short` } },
    ],
  });
  expect(giverText(plan.parts[0].giver)).toBe(`${url}#short in the verifier pool`);
  expect(verificationCalls(recipeOf({ reward: "./mine.ts" }))(1)).toBe(1);
});

test("several have their weights, and functions their own calls", () => {
  const recipe = recipeOf({
    rewards: {
      right: { weight: 1, reward: "verifier" },
      half: { weight: 2, reward: { function: half, timeoutMs: 9, concurrency: 3 } },
    },
  });
  const plan = rewardPlan(recipe, "math")!;
  expect(plan.isSum).toBe(true);
  expect(plan.parts).toEqual([
    { verifier: "part:math:right", name: "right", weight: 1, giver: { by: "verifier" } },
    {
      verifier: "part:math:half",
      name: "half",
      weight: 2,
      giver: { by: "function", name: "half", reward: half, timeoutMs: 9, concurrency: 3 },
    },
  ]);
  expect(plan.parts.map(({ giver }) => giverText(giver))).toEqual([
    "the problem's verifier",
    "function half in the main process",
  ]);
  expect(verificationCalls(recipe)(1)).toBeGreaterThan(8);
});

const judge = { url: "http://localhost:8000/v1", model: "j", apiKeyEnv: "HONE_TEST_ABSENT_KEY" };

test("a judge is named with its model and server, and waits beside the workers", () => {
  const recipe = recipeOf({ reward: { judge: { ...judge, samplings: 1 } } });
  const { giver } = rewardPlan(recipe, "math")!.parts[0];
  expect(giverText(giver)).toBe("j at http://localhost:8000/v1 judges (rubric, 1 sampling)");
  expect(verificationCalls(recipe)(1)).toBeGreaterThan(8);
});

test("a missing key and a lost function are refused before a run", () => {
  const half = recipeOf({ reward: () => 0.5 });
  expect(() => expectRewards(half)).not.toThrow();
  expect(() => expectRewards(defineRecipe(JSON.parse(JSON.stringify(half))))).toThrow("only its name");
  expect(() => expectRewards(recipeOf({ reward: { judge } }))).toThrow("HONE_TEST_ABSENT_KEY is not set");
});

test("a recipe read from JSON knows the function's name and has none to call", () => {
  const sets = { mine: { source: "procedural/math", reward: half } };
  const measured = defineRecipe({ ...recipeOf({}), evaluation: { sets } });
  expect(rewardPlans(measured).map(({ verifier }) => verifier)).toEqual(["reward:mine"]);
  expect(() => expectRewards(measured)).not.toThrow();
  expect(() => expectRewards(defineRecipe(JSON.parse(JSON.stringify(measured))))).toThrow(
    "half is not available in this process",
  );
  const recipe = defineRecipe(JSON.parse(JSON.stringify(recipeOf({ reward: half }))));
  expect(rewardPlan(recipe, "math")!.parts[0].giver).toMatchObject({ name: "half", reward: undefined });
});
