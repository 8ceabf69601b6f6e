import { expect, test } from "vitest";
import { defineRecipe } from "../../lib/config/index.ts";
import { changed, issuesOf, minimal } from "./recipes.ts";

test("defaults of what makes rewards and advantages of verdicts", () => {
  const { lengthPenalty, advantages } = defineRecipe(minimal());
  expect(lengthPenalty).toEqual({ kind: "dap", bufferTokens: 64, solveRateExponent: 1, incorrectScale: 1 });
  expect(advantages).toEqual({ baseline: "mean", divideBy: "population-std", filter: "score" });
});

test.each([
  ["lengthPenalty.kind", "linear"],
  ["lengthPenalty.bufferTokens", 0],
  ["lengthPenalty.solveRateExponent", -1],
  ["lengthPenalty.incorrectScale", 1.5],
  ["advantages.baseline", "median"],
  ["advantages.divideBy", "range"],
  ["advantages.filter", "length"],
])("%s may not be %j", (path, value) => {
  expect(issuesOf(changed({ [path]: value })).map((issue) => issue.path)).toEqual([path]);
});
