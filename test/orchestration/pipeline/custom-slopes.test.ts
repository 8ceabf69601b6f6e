import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { defineRecipe, recipeInput } from "../../../lib/config/index.ts";
import type { SlopesFunction } from "../../../lib/custom-objective.ts";
import { customSlopes, openSlopes } from "../../../lib/orchestration/pipeline/custom-slopes.ts";
import { fileHash } from "../../../lib/trust.ts";
import { slopesRequest } from "../../fixtures/slopes-request.ts";
import { smallRecipe } from "../small-recipe.ts";

test("a recipe defined with the function calls it; one read from JSON knows its name alone and says so", () => {
  const calls: number[] = [];
  const mine: SlopesFunction = ({ out }) => calls.push(out.length);
  const recipe = smallRecipe({}, { objective: { kind: "custom", slopes: mine } });
  for (const defined of [recipe, defineRecipe(recipeInput(recipe))]) {
    const slopes = customSlopes(defined);
    expect(slopes).toBeTypeOf("function");
    if (typeof slopes === "function") slopes(slopesRequest());
  }
  expect(calls).toEqual([3, 3]);
  const read = defineRecipe(JSON.parse(JSON.stringify(recipe)));
  expect(() => customSlopes(read)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining("the function mine of"),
    }),
  );
  expect(customSlopes(smallRecipe())).toBeUndefined();
});

test("a module goes to the trainer by its URL, and is loaded before anything starts", async () => {
  const path = "test/fixtures/custom-gspo.ts";
  const recipe = smallRecipe({}, { objective: { kind: "custom", slopes: `./${path}#gspo` } });
  const { href } = pathToFileURL(path);
  expect(customSlopes(recipe)).toEqual({ module: `${href}#gspo`, sha256: fileHash(path) });
  expect(await openSlopes(recipe)).toBeTypeOf("function");
  const other = smallRecipe({}, { objective: { kind: "custom", slopes: `./${path}#dapo` } });
  await expect(openSlopes(other)).rejects.toMatchObject({ code: "HONE_ERR_CONFIG" });
  expect(await openSlopes(smallRecipe())).toBeUndefined();
});
