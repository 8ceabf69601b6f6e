import { expect, test } from "vitest";
import {
  adoptSlopes,
  definedRecipe,
  defineRecipe,
  overrideRecipe,
  recipeInput,
  slopesFunction,
} from "../../lib/config/index.ts";
import type { SlopesFunction } from "../../lib/custom-objective.ts";
import { recipeChanges } from "../../lib/orchestration/records/recipe-changes.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const mine: SlopesFunction = ({ out }) => out.fill(1).length;
const other: SlopesFunction = ({ out }) => out.fill(2).length;
const recipeOf = (slopes: SlopesFunction) => smallRecipe({}, { objective: { kind: "custom", slopes } });
const read = (slopes: SlopesFunction) => defineRecipe(JSON.parse(JSON.stringify(recipeOf(slopes))));

test("a recipe keeps the function beside its JSON, which has name and hash; overrides and copies keep it too", () => {
  const recipe = recipeOf(mine);
  expect(recipe.objective.slopes).toEqual({
    function: "mine",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(JSON.parse(JSON.stringify(recipe))).toEqual(recipe);
  const changed = overrideRecipe(recipe, ["objective.clipLow=0.001"]);
  expect(changed.objective.clipLow).toBe(0.001);
  for (const same of [
    recipe,
    changed,
    definedRecipe(recipe, "here"),
    defineRecipe(recipeInput(recipe)),
    { ...recipe },
  ]) {
    expect(slopesFunction(same.objective)).toBe(mine);
  }
  expect(slopesFunction(read(mine).objective)).toBeUndefined();
});

test("a run that goes on with another function is told of it", () => {
  const changes = recipeChanges("runs/a", JSON.parse(JSON.stringify(recipeOf(mine))), recipeOf(other));
  expect(changes).toEqual([
    'objective.slopes.function: "mine" -> "other"',
    expect.stringMatching(/^objective\.slopes\.sha256: "\w+" -> "\w+"$/),
  ]);
});

test("a recorded recipe takes the function of the entry script, and refuses another", () => {
  const recorded = read(mine);
  expect(() => adoptSlopes(recorded.objective, recipeOf(other).objective, "runs/a")).toThrow(
    /is other with hash/,
  );
  adoptSlopes(recorded.objective, recipeOf(mine).objective, "runs/a");
  expect(slopesFunction(recorded.objective)).toBe(mine);
});

test.each([
  [{ kind: "custom" }, /objective\.slopes.*required with kind "custom"/],
  [{ slopes: mine }, /objective\.slopes.*objective\.kind "gspo" never asks/],
  [
    { kind: "custom", slopes: mine, correction: { kind: "tis", high: 2 } },
    /objective\.correction\.kind.*"tis"/,
  ],
  [{ kind: "custom", slopes: "mine" }, /objective\.slopes/],
])("%o is refused", (objective, message) => {
  expect(() => smallRecipe({}, { objective: objective as never })).toThrow(message);
});
