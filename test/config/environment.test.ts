import { expect, test } from "vitest";
import { defineRecipe, environmentOf, overrideRecipe, recipeInput } from "../../lib/config/index.ts";
import type { Environment } from "../../lib/domains/index.ts";
import type { ConfigError } from "../../lib/errors.ts";
import { tinyInput } from "../e2e/tiny-recipe.ts";

const mine: Environment<{ n: number }> = {
  reset: () => ({ n: 0 }),
  step: () => ({ done: true }),
  score: () => 1,
};
const inputWith = (domain: object) => ({
  ...tinyInput(),
  warmStart: undefined as never,
  domains: { math: { weight: 1, source: "procedural/math", ...domain } },
});
const issuesOf = (domain: object): string => {
  try {
    defineRecipe(inputWith(domain) as never);
    return "";
  } catch (error) {
    return (error as ConfigError).issues.map(({ path, message }) => `${path} ${message}`).join("; ");
  }
};

test("an environment is kept by a hash of its functions, and found again in this process, overrides included", () => {
  const recipe = defineRecipe(inputWith({ environment: mine, episode: { maxTurns: 2 } }));
  const { environment } = recipe.domains["math"]!;
  expect(JSON.parse(JSON.stringify(environment))).toEqual({
    functions: "reset,step,score",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    process: "main",
  });
  expect(environmentOf(environment)).toBe(mine);
  const changed = overrideRecipe(recipe, ["seed=9", "domains.math.episode.maxTurns=5"]);
  expect(environmentOf(changed.domains["math"]!.environment)).toBe(mine);
  expect(changed.domains["math"]!.episode).toMatchObject({ maxTurns: 5 });
  const again = defineRecipe(recipeInput(recipe));
  expect(again).toEqual(recipe);
  const other = defineRecipe(inputWith({ environment: { ...mine, score: () => 0 } }));
  expect(JSON.stringify(other.domains["math"]!.environment)).not.toBe(JSON.stringify(environment));
});

test("validation sets are played in environments too, kept and found as those of domains are", () => {
  const define = (sets: object) =>
    defineRecipe({ ...inputWith({}), evaluation: { sets } } as never).evaluation.sets;
  const source = "procedural/math";
  const shown = defineRecipe({
    ...inputWith({}),
    evaluation: { sets: { played: { source, environment: mine, episode: { maxTurns: 3 } } } },
  } as never);
  for (const recipe of [shown, overrideRecipe(shown, ["seed=9"]), defineRecipe(recipeInput(shown))]) {
    const { environment, episode } = recipe.evaluation.sets["played"]!;
    expect(environmentOf(environment)).toBe(mine);
    expect(environment).toMatchObject({ functions: "reset,step,score" });
    expect(episode).toMatchObject({ maxTurns: 3 });
  }
  define({ words: { source: "procedural/word-guess", environment: "word-guess" } });
  expect(() => define({ words: { source: "procedural/word-guess" } })).toThrow('environment: "word-guess"');
  expect(() => define({ played: { source, environment: mine, reward: "verifier" } })).toThrow(
    "both environment and reward",
  );
});

test("a recipe read from JSON knows the hash alone; built-in environments go by name", () => {
  const recipe = defineRecipe(inputWith({ environment: mine }));
  const read = defineRecipe(JSON.parse(JSON.stringify(recipe)));
  expect(environmentOf(read.domains["math"]!.environment)).toBeUndefined();
  const named = defineRecipe(inputWith({ environment: "calculator" }));
  expect(environmentOf(named.domains["math"]!.environment)).toHaveProperty("step");
});

test("what does not go together is refused, with what to do", () => {
  expect(issuesOf({ environment: "calculater" })).toContain("domains.math.environment");
  expect(issuesOf({ environment: { reset: mine.reset } })).not.toBe("");
  expect(issuesOf({ episode: { maxTurns: 2 } })).toContain("the domain has no environment");
  expect(issuesOf({ environment: "calculator", reward: "verifier" })).toContain(
    "both environment and reward",
  );
  expect(issuesOf({ source: "procedural/calculator" })).toContain('environment: "calculator"');
  expect(issuesOf({ environment: "calculator", episode: { maxTurns: 0 } })).toContain("episode.maxTurns");
});

test("a warm start may show the episodes of an environment that has an expert, and of no other", () => {
  const shown = { ...mine, expert: () => "x" };
  const define = (environment: unknown) => {
    const domains = { math: { weight: 1, source: "procedural/math", environment } };
    return defineRecipe({ ...tinyInput(), domains, warmStart: { steps: 1, mixture: { math: 1 } } } as never);
  };
  const { environment } = define(shown).domains["math"]!;
  expect(environment).toMatchObject({ functions: "reset,step,score,expert" });
  const other = define({ ...shown, expert: () => "y" }).domains["math"]!.environment;
  expect((other as { sha256: string }).sha256).not.toBe((environment as { sha256: string }).sha256);
  define("calculator");
  define(environment); // an environment as a recipe read from JSON has it
  expect(() => define(mine)).toThrow("names math, whose environment has no expert");
});
