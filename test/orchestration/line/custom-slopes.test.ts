import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { defineRecipe, recipeInput } from "../../../lib/config/index.ts";
import type { SlopesFunction } from "../../../lib/custom-objective.ts";
import { customSlopes, openSlopes } from "../../../lib/orchestration/line/custom-slopes.ts";
import { moduleHash } from "../../../lib/slopes-function.ts";
import { slopesRequest } from "../../fixtures/slopes-request.ts";
import { smallRecipe } from "../small-recipe.ts";

test("a recipe defined with the function calls it; one read from JSON knows its name alone and says so", () => {
  const calls: number[] = [];
  const mine: SlopesFunction = ({ out }) => calls.push(out.length);
  const recipe = smallRecipe({}, { objective: { kind: "custom", slopes: mine } });
  for (const { objective } of [recipe, defineRecipe(recipeInput(recipe))]) {
    const slopes = customSlopes(objective);
    expect(slopes).toBeTypeOf("function");
    if (typeof slopes === "function") slopes(slopesRequest());
  }
  expect(calls).toEqual([3, 3]);
  const read = defineRecipe(JSON.parse(JSON.stringify(recipe)));
  expect(() => customSlopes(read.objective)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining("the function mine of"),
    }),
  );
  expect(customSlopes(smallRecipe().objective)).toBeUndefined();
});

test("a module goes to the trainer by its URL, and is loaded before anything starts", async () => {
  const path = "test/fixtures/custom-gspo.ts";
  const recipe = smallRecipe({}, { objective: { kind: "custom", slopes: `./${path}#gspo` } });
  const { href } = pathToFileURL(path);
  expect(customSlopes(recipe.objective)).toEqual({ module: `${href}#gspo`, sha256: moduleHash(path) });
  expect(await openSlopes(recipe.objective)).toBeTypeOf("function");
  const other = smallRecipe({}, { objective: { kind: "custom", slopes: `./${path}#dapo` } });
  await expect(openSlopes(other.objective)).rejects.toMatchObject({ code: "HONE_ERR_CONFIG" });
  expect(await openSlopes(smallRecipe().objective)).toBeUndefined();
});
