import { expect, test } from "vitest";
import { recipeConfig } from "../../lib/cli/recipe-config.ts";
import type { Recipe } from "../../lib/config/index.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const folder = (name: string) =>
  ({ ...smallRecipe(), model: { folder: name, weightStorage: "bf16" } }) as Recipe;

test("a new model has its recipe's sizes, a published one its own", async () => {
  const { width } = smallRecipe().model.config!;
  expect(JSON.parse(await recipeConfig(smallRecipe()))).toMatchObject({ hidden_size: width });
  expect(JSON.parse(await recipeConfig(folder("Qwen/Qwen3-0.6B")))).toMatchObject({ hidden_size: 1024 });
  await expect(recipeConfig(folder("no/such"))).rejects.toMatchObject({ code: "HONE_ERR_IO" });
});
