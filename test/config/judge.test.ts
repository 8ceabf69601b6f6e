import { expect, test } from "vitest";
import { defineRecipe, recipeJsonSchema } from "../../lib/config/index.ts";
import { changed, issuesOf } from "./recipes.ts";

const judge = { url: "http://localhost:8000/v1", model: "m" };
const recipeWith = (change: object) => changed({ "domains.math.reward": { judge: { ...judge, ...change } } });

test("address and model are enough; the rest has defaults, and the recipe is JSON", () => {
  const recipe = defineRecipe(recipeWith({}) as never);
  expect(recipe.domains["math"]!.reward).toEqual({
    judge: {
      ...judge,
      kind: "rubric",
      rubric: expect.any(String),
      scale: 10,
      samplings: 2,
      temperature: 0.7,
      maxTokens: 1024,
      maxAnswerChars: 20_000,
      concurrency: 8,
      timeoutMs: 60_000,
      retries: 4,
      backoffMs: 500,
      budget: {},
      cache: "runs/judge-cache",
    },
  });
  expect(defineRecipe(JSON.parse(JSON.stringify(recipe)))).toEqual(recipe);
  expect(JSON.stringify(recipeJsonSchema())).toContain("apiKeyEnv");
});

test.each([
  ["a key in the place of a variable's name", { apiKeyEnv: "sk-abcdef" }, "apiKeyEnv", "not a key"],
  ["a key in the address", { url: "https://user:key@host/v1" }, "url", "without credentials"],
  ["a key behind the address", { url: "https://host/v1?key=abc" }, "url", "without credentials"],
  ["no address", { url: "localhost:8000" }, "url", "http or https"],
  ["no kind", { kind: "listwise" }, "kind", "listwise"],
  ["no sampling", { samplings: 0 }, "samplings", "is 0"],
  ["a budget of nothing", { budget: { calls: 0 } }, "budget.calls", "is 0"],
  ["a key in the recipe", { apiKey: "sk-abcdef" }, "apiKey", "not a field"],
])("%s is refused", (_, change, field, message) => {
  expect(issuesOf(recipeWith(change))).toEqual([
    expect.objectContaining({
      path: `domains.math.reward.judge.${field}`,
      message: expect.stringContaining(message),
    }),
  ]);
});
