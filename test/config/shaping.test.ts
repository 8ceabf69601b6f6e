import { expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { changed, issuesOf, minimal } from "./recipes.ts";

test("defaults of what makes rewards and advantages of verdicts", () => {
  const { reward, lengthPenalty, advantages } = defineRecipe(minimal());
  expect(reward).toEqual({ table: "score" });
  expect(lengthPenalty).toEqual({ kind: "dap", bufferTokens: 64, solveRateExponent: 1, incorrectScale: 1 });
  expect(advantages).toEqual({
    baseline: "mean",
    combine: "rewards",
    divideBy: "population-std",
    filter: "score",
    overlong: "keep",
  });
});

test("groups of equal scores are kept where the baseline is not the group's", () => {
  const filterOf = (advantages: object) =>
    defineRecipe(changed({ advantages }) as RecipeInput).advantages.filter;
  expect(filterOf({ baseline: "batch-mean", divideBy: "batch-std" })).toBe("none");
  expect(filterOf({ baseline: "domain-mean", divideBy: "none", filter: "score" })).toBe("score");
  expect(filterOf({ divideBy: "batch-std" })).toBe("score");
});

const row = { correct: 1, wrong: 0, no_answer: 0, unparsable: 0 };

test("a table by name, or both of its rows", () => {
  const tables = [
    "pure_success",
    "success_and_format",
    { finished: row, truncated: { ...row, partial: -2 } },
  ];
  for (const table of tables) expect(issuesOf(changed({ "reward.table": table }))).toEqual([]);
});

test.each([
  ["lengthPenalty.kind", "linear"],
  ["lengthPenalty.bufferTokens", 0],
  ["lengthPenalty.solveRateExponent", -1],
  ["lengthPenalty.incorrectScale", 1.5],
  ["advantages.baseline", "median"],
  ["advantages.divideBy", "range"],
  ["advantages.filter", "length"],
  ["advantages.overlong", "drop"],
  ["reward.table", "pure-success"],
])("%s may not be %j", (path, value) => {
  expect(issuesOf(changed({ [path]: value })).map((issue) => issue.path)).toEqual([path]);
});

test.each([
  ["reward.table.truncated", { finished: row }],
  ["reward.table.truncated.correct", { finished: row, truncated: { ...row, correct: "1" } }],
  ["reward.table.truncated.noAnswer", { finished: row, truncated: { ...row, noAnswer: 0 } }],
  ["reward.table.finished.wrong", { finished: { ...row, wrong: 1e39 }, truncated: row }],
])("what is wrong in a table has a path: %s", (path, table) => {
  expect(issuesOf(changed({ "reward.table": table })).map((issue) => issue.path)).toEqual([path]);
});
