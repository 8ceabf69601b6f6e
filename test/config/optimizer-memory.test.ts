import { expect, test } from "vitest";
import { optimizerMemory, overrideRecipe } from "../../lib/config/index.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

test("AdamW's moments lie where hardware says, Muon's on the device", () => {
  const host = overrideRecipe(smallRecipe(), ["hardware.optimizerMemory=host"]);
  expect(optimizerMemory(smallRecipe(), "adamw")).toBe("device");
  expect(optimizerMemory(host, "adamw")).toBe("host");
  expect(optimizerMemory(host, "muon")).toBe("device");
});
