import { expect, test } from "vitest";
import { inTodaysNames, recordedRecipe } from "../../../lib/orchestration/records/recorded-recipe.ts";
import { smallRecipe } from "../small-recipe.ts";

test.each([
  ["raw", "score"],
  ["shaped", "reward"],
  ["score", "score"],
  ["none", "none"],
])("a run whose recipe says advantages.filter %s goes on with %s", (old, now) => {
  const recipe = JSON.parse(JSON.stringify(smallRecipe()));
  recipe.advantages.filter = old;
  expect(recordedRecipe(recipe, "runs/x").advantages.filter).toBe(now);
  expect(recipe.advantages.filter, "the record itself stays").toBe(old);
});

test.each([undefined, null, 7, {}, { advantages: null }])("%o is left to the schema", (value) => {
  expect(inTodaysNames(value)).toEqual(value);
});
