import { expect, test } from "vitest";
import { engineOptions, modelConfigJson, rlOptimizer } from "../../lib/orchestration/core.ts";
import { smallRecipe } from "./small-recipe.ts";

const withModel = (config: object) =>
  smallRecipe(
    {},
    { model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 128, ...config } } },
  );

test("sizes become the config.json of the family that has these switches", () => {
  expect(JSON.parse(modelConfigJson(smallRecipe(), 226))).toMatchObject({
    model_type: "llama",
    vocab_size: 226,
    hidden_size: 32,
    num_key_value_heads: 2,
    head_dim: 16,
    tie_word_embeddings: true,
  });
  expect(JSON.parse(modelConfigJson(withModel({ qkvBias: true }), 226)).model_type).toBe("qwen2");
  expect(JSON.parse(modelConfigJson(withModel({ qkNorm: true, vocabulary: 300 }), 226))).toMatchObject({
    model_type: "qwen3",
    vocab_size: 300,
  });
});

test("the engine gets the whole context and the run's seed", () => {
  expect(engineOptions(smallRecipe(), [])).toMatchObject({
    maxContext: 88,
    runSeed: 7n,
    maxRunning: 64,
    pages: 64 * 7,
  });
});

test("training takes AdamW with the recipe's numbers", () => {
  const recipe = smallRecipe({}, { optimizer: { beta2: 0.99, gradientClip: 2 } });
  expect(rlOptimizer(recipe)).toMatchObject({
    kind: "adamw",
    beta1: 0.9,
    beta2: 0.99,
    gradientClip: 2,
    weightDecay: 0,
  });
});
