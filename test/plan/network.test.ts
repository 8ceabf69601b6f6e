import { expect, test } from "vitest";
import { PUBLISHED_CONFIGS } from "../../lib/inference/index.ts";
import { sizesOf } from "../../lib/plan/buffers.ts";
import { networkOf } from "../../lib/plan/index.ts";
import { tinyConfig } from "../fixtures/model-folder.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const published = (name: string) => networkOf(JSON.stringify(PUBLISHED_CONFIGS[name]));

// The counts in the safetensors headers on the Hub; Apriel's decoder without its vision tower.
test.each([
  ["Qwen/Qwen3-0.6B", 596_049_920, 114_688],
  ["Qwen/Qwen3-4B", 4_022_468_096, 147_456],
  ["Qwen/Qwen3-8B", 8_190_735_360, 147_456],
  ["ServiceNow-AI/Apriel-1.5-15b-Thinker", 14_428_902_400, 196_608],
])("%s has %d parameters and %d bytes of keys and values a token in bf16", (name, parameters, bytes) => {
  expect(published(name).parameters).toBe(parameters);
  const recipe = smallRecipe();
  const { page } = sizesOf(recipe, JSON.stringify(PUBLISHED_CONFIGS[name]), "cuda", 1);
  expect(page / recipe.engine.pageTokens).toBe(bytes);
});

test("the parts of a network add up to its parameters", () => {
  for (const name of Object.keys(PUBLISHED_CONFIGS)) {
    const n = published(name);
    const perLayer = 2 * n.width + (n.qkNorm ? 2 * n.headDim : 0);
    expect(n.vectors).toBe(n.layers * perLayer + n.width);
    expect(n.parameters).toBe(n.layers * n.layerMatrices + n.vectors + n.embedding * (n.tiedHead ? 1 : 2));
  }
});

test("a wrapper's text model is what counts, and the wrapper's word on tying", () => {
  const text = tinyConfig({ tie_word_embeddings: false });
  const inner = networkOf(JSON.stringify(text));
  const wrapped = { model_type: "llava", text_config: text };
  expect(networkOf(JSON.stringify(wrapped))).toEqual(inner);
  const tied = networkOf(JSON.stringify({ ...wrapped, tie_word_embeddings: true }));
  expect(tied.tiedHead).toBe(true);
  expect(tied.parameters).toBe(inner.parameters - inner.embedding);
});

test("a hybrid's layers of gated DeltaNet have no keys and values, and its matrices are the mean layer's", () => {
  const sizes = { model_type: "qwen3_5_text", num_hidden_layers: 8, head_dim: 8, tie_word_embeddings: true };
  const linear = {
    linear_num_key_heads: 2,
    linear_num_value_heads: 4,
    linear_key_head_dim: 8,
    linear_value_head_dim: 8,
  };
  const config = { ...tinyConfig(sizes), ...linear };
  const n = networkOf(JSON.stringify(config));
  expect(n.attentionLayers).toBe(2);
  expect(n.layers * n.layerMatrices + n.vectors + n.embedding).toBe(n.parameters);
  // two norms a layer and the last one; attention's norms of q and k; DeltaNet's decay, time step and head norm
  expect(n.vectors).toBe((2 * 8 + 1) * n.width + 2 * 2 * 8 + 6 * (4 + 4 + 8));
  const types = ["linear_attention", "full_attention", "full_attention"];
  const listed = { ...config, num_hidden_layers: 3, layer_types: types };
  expect(networkOf(JSON.stringify(listed)).attentionLayers).toBe(2);
  expect(networkOf(JSON.stringify(tinyConfig({}))).attentionLayers).toBe(2);
});

test("the plan of a hybrid on a GPU counts a state of each running sequence and prompt, and the backward's", () => {
  const sizes = { model_type: "qwen3_5_text", num_hidden_layers: 8, head_dim: 64, tie_word_embeddings: true };
  const linear = {
    linear_num_key_heads: 2,
    linear_num_value_heads: 4,
    linear_key_head_dim: 128,
    linear_value_head_dim: 128,
  };
  const config = { ...tinyConfig(sizes), ...linear };
  const recipe = smallRecipe();
  const planned = (device: "cpu" | "cuda", maxRunning: number, shape = config) =>
    sizesOf({ ...recipe, engine: { ...recipe.engine, maxRunning } }, JSON.stringify(shape), device, 1);
  // three rows of the convolution's 1024 channels and four matrices of 128 x 128, in f32, for six layers
  const state = 6 * (3 * 1024 + 4 * 128 * 128) * 4;
  const more = planned("cuda", 512).engineScratch - planned("cuda", 256).engineScratch;
  expect(more).toBeGreaterThanOrEqual(2 * 256 * state);
  expect(more).toBeLessThan(2.1 * 256 * state);
  // a state every 64 tokens and, at most, one every eight for 264 blocks at work
  const tokens = recipe.training.packedTokens;
  expect(planned("cuda", 8).trainingScratch).toBeGreaterThan(Math.floor(tokens / 64) * 4 * 128 * 128 * 4);
  expect(() => planned("cuda", 8, { ...config, linear_key_head_dim: 136 })).toThrow("take at most 128");
});
