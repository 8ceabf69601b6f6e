import { describe, expect, test } from "vitest";
import { evaluationContext } from "../../lib/config/index.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const withEvaluation = (evaluation: object, more: object = {}) => smallRecipe({}, { evaluation, ...more });
const set = { source: "procedural/math" };

test("the longest budget of any evaluation counts, and training's if that is longer", () => {
  const { maxPromptTokens, maxOutputTokens } = smallRecipe().rollouts;
  const context = (evaluation: object) => evaluationContext(withEvaluation(evaluation));
  const most = smallRecipe().model.config!.maxPositions - maxPromptTokens;
  expect(context({})).toBe(maxPromptTokens + maxOutputTokens);
  expect(context({ maxTokens: 1 })).toBe(maxPromptTokens + maxOutputTokens);
  expect(context({ maxTokens: most - 1 })).toBe(maxPromptTokens + most - 1);
  expect(context({ maxTokens: 1, sets: { a: { ...set, maxTokens: most }, b: set } })).toBe(
    maxPromptTokens + most,
  );
});

describe("refused with the field and what to do", () => {
  test.each([
    [
      "a budget beyond the model's positions",
      { maxTokens: 100_000 },
      {},
      /evaluation.maxTokens.*maxPositions is/,
    ],
    [
      "one of a set",
      { sets: { a: { ...set, maxTokens: 100_000 } } },
      {},
      /evaluation.maxTokens.*maxPositions is/,
    ],
    [
      "a set called like a domain",
      { sets: { math: set } },
      {},
      /evaluation.sets: names a set math, as a domain is/,
    ],
    ["a set called mean", { sets: { mean: set } }, {}, /evaluation.sets: names a set mean, as the mean is/],
    ["a set without a source", { sets: { a: {} } }, {}, /evaluation.sets.a.source: is required/],
    ["a misspelt field", { sets: { a: { ...set, problem: 3 } } }, {}, /problems/],
  ])("%s", (_, evaluation, more, message) => {
    expect(() => withEvaluation(evaluation, more)).toThrow(message);
  });

  test.each([[0], [1.5], [-1], [true]])("heldOut %j", (heldOut) => {
    const source = { kind: "open-reasoner-zero", path: "x", heldOut } as unknown as string;
    const math = { weight: 1, source };
    expect(() => smallRecipe({}, { domains: { math } })).toThrow(/domains.math.source/);
  });
});
