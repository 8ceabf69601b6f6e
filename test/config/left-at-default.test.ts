import { expect, test } from "vitest";
import { defineRecipe, leftAtDefault, overrideRecipe } from "../../lib/config/index.ts";
import { minimal } from "./recipes.ts";

test("fields that were left out, with their values; what is given, or overridden, is none", () => {
  const recipe = defineRecipe({ ...minimal(), optimizer: { warmupSteps: 0 } });
  expect(leftAtDefault(recipe)).toEqual({
    "optimizer.lr": 2.5e-4,
    "objective.kind": "gspo",
    "rollouts.groupSize": 8,
    "advantages.filter": "score",
    "lengthPenalty.kind": "dap",
  });
  const { lengthPenalty: _, ...without } = minimal();
  expect(leftAtDefault(defineRecipe(without))).toMatchObject({ "lengthPenalty.kind": "none" });
  expect(leftAtDefault(overrideRecipe(recipe, ["optimizer.lr=1e-3"]))).not.toHaveProperty(["optimizer.lr"]);
});
