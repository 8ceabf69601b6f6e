import { expect, test } from "vitest";
import { defineRecipe, loraOptions, type RecipeInput } from "../../lib/config/index.ts";
import { tinyInput } from "../e2e/tiny-recipe.ts";

const folder = { model: { folder: "x/y" }, warmStart: undefined };
const issues = (changes: Partial<RecipeInput>) => {
  try {
    defineRecipe({ ...tinyInput(), ...changes });
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

test("adapters of every matrix, unless some are named", () => {
  const { lora, seed } = defineRecipe({ ...tinyInput(), lora: {} });
  expect(loraOptions({ lora, seed })).toEqual({
    lora: { rank: 16, alpha: 32, targets: ["all-linear"], seed: 3n },
  });
  const some = defineRecipe({ ...tinyInput(), lora: { targets: ["q_proj"] } });
  expect(loraOptions(some).lora?.targets).toEqual(["q_proj"]);
  expect(loraOptions(defineRecipe(tinyInput()))).toEqual({});
});

test("what does not go together is refused by name", () => {
  expect(issues({ lora: { rank: 0 } })).toContain("lora.rank");
  expect(issues({ lora: { targets: ["lm_head"] } as never })).toContain("lora.targets");
  expect(issues({ lora: { dropout: 0.1 } as never })).toContain("dropout");
  expect(issues({ ...folder, model: { folder: "x/y", adapter: "z" } })).toContain("the recipe has no lora");
  const { model } = tinyInput();
  expect(issues({ lora: {}, model: { ...model, adapter: "z" } })).toContain("a new model has no adapters");
  expect(issues({ lora: {}, model: { folder: "x/y" } })).toContain('set "adamw"');
  expect(issues({ ...folder, lora: {}, model: { folder: "x/y", adapter: "z" } })).toBe("");
});
