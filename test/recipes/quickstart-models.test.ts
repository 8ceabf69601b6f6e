// The other models that the quick start can train are as large as its dense one.
import { expect, test } from "vitest";
import { recipeConfig } from "../../lib/cli/recipe-config.ts";
import { overrideRecipe } from "../../lib/config/index.ts";
import { modelFacts } from "../../lib/inference/index.ts";
import quickstart, { MODELS } from "../../recipes/quickstart.ts";
import { noAddon } from "../e2e/native-core.ts";

const factsOf = async (name: string) =>
  modelFacts(await recipeConfig(overrideRecipe(quickstart, MODELS[name]!)), name);

test.skipIf(noAddon !== undefined)(
  "a token is multiplied by as many weights, within two in a hundred, in a hybrid and in a mixture",
  async () => {
    expect(Object.keys(MODELS)).toEqual(["dense", "hybrid", "mixture"]);
    const [dense, hybrid, mixture] = await Promise.all(Object.keys(MODELS).map(factsOf));
    expect([dense!.decoder, hybrid!.decoder, mixture!.decoder]).toEqual([
      "llama",
      "qwen3_5_text",
      "qwen3_moe",
    ]);
    for (const { activeParameters } of [hybrid!, mixture!])
      expect(Math.abs(activeParameters / dense!.activeParameters - 1)).toBeLessThan(0.02);
    expect(hybrid!.parameters).toBe(hybrid!.activeParameters);
  },
);
