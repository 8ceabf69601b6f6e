import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  loadModel,
  modelFacts,
  PUBLISHED_CONFIGS,
  shrinkConfig,
  writeStandIn,
} from "../../lib/inference/index.ts";
import { openTokenizer } from "../../lib/native/tokenizer.ts";
import { chatFormat } from "../../lib/text/index.ts";
import { temporaryFolder, tinyConfig, writeModelFiles } from "../fixtures/model-folder.ts";

test.each(Object.keys(PUBLISHED_CONFIGS))("%s made small keeps its ratios and every other field", (name) => {
  const before = JSON.stringify(PUBLISHED_CONFIGS[name]);
  const after = shrinkConfig(before);
  const [big, small] = [modelFacts(before), modelFacts(after)];
  expect(small.layers).toBe(2);
  expect(small.heads / small.kvHeads).toBe(big.heads / big.kvHeads);
  expect(small.mlpWidth / small.width).toBeCloseTo(big.mlpWidth / big.width, 0);
  expect((small.heads * small.headDim) / small.width).toBeCloseTo((big.heads * big.headDim) / big.width, 1);
  expect([small.vocabulary, small.maxPositions]).toEqual([big.vocabulary, big.maxPositions]);
  expect(small.width).toBeLessThanOrEqual(256);
  const others = (text: string) => {
    const json = JSON.parse(text) as Record<string, unknown>;
    const inner = { ...(json["text_config"] as object) } as Record<string, unknown>;
    for (const each of [json, inner])
      for (const key of [
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "hidden_size",
        "head_dim",
        "intermediate_size",
        "text_config",
      ])
        delete each[key];
    return [json, inner];
  };
  expect(others(after)).toEqual(others(before));
});

test("a list with an entry a layer is cut with the layers", () => {
  const types = ["full_attention", "full_attention", "full_attention"];
  expect(JSON.parse(shrinkConfig(JSON.stringify(tinyConfig({ layer_types: types }))))).toMatchObject({
    num_hidden_layers: 2,
    layer_types: types.slice(0, 2),
  });
});

test("of a hybrid a layer of each kind stays, and as many value heads a key head", () => {
  const types = ["linear_attention", "linear_attention", "linear_attention", "full_attention"];
  const linear = {
    linear_num_key_heads: 16,
    linear_num_value_heads: 48,
    linear_key_head_dim: 128,
    linear_value_head_dim: 128,
  };
  const config = tinyConfig({
    model_type: "qwen3_5_text",
    num_hidden_layers: 4,
    head_dim: 8,
    layer_types: types,
  });
  const small = shrinkConfig(JSON.stringify({ ...config, ...linear }));
  expect(JSON.parse(small)).toMatchObject({
    layer_types: ["linear_attention", "full_attention"],
    linear_num_key_heads: 2,
    linear_num_value_heads: 6,
    linear_key_head_dim: 16,
    linear_value_head_dim: 16,
  });
  expect(modelFacts(small).decoder).toBe("qwen3_5_text");
});

test("a model with heads of two sizes keeps a layer of each", () => {
  const config = tinyConfig({
    model_type: "gemma4_text",
    num_hidden_layers: 6,
    global_head_dim: 512,
    num_global_key_value_heads: 4,
    attention_k_eq_v: true,
    hidden_size_per_layer_input: 0,
    hidden_activation: "gelu_pytorch_tanh",
    layer_types: [...Array(5).fill("sliding_attention"), "full_attention"],
  });
  const { decoder, layers, cacheWidth, kvHeads, headDim } = modelFacts(shrinkConfig(JSON.stringify(config)));
  expect([decoder, layers]).toEqual(["gemma4_text", 2]);
  expect(cacheWidth).toBe(2 * (kvHeads * headDim + 32)); // one head of 32 in the layer without a window
});

test("the folder loads, spells any text, and its template opens the assistant's turn", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "model");
  await writeStandIn(path, JSON.stringify(PUBLISHED_CONFIGS["ServiceNow-AI/Apriel-1.5-15b-Thinker"]));
  const { weights, vocabulary } = await loadModel(path);
  await weights.close();
  const tokenizer = openTokenizer(path);
  expect(vocabulary).toBe(tokenizer.vocabularySize);
  const text = "naïve 漢字 \u0000 \n\t</s> 😀";
  expect(tokenizer.decode(tokenizer.encode(text, { specials: "spell" }))).toBe(text);
  const format = chatFormat(path, tokenizer);
  const prompt = format.prompt({ question: "Why?" });
  expect(tokenizer.decode(prompt)).toBe("<s><|user|>Why?</s><|assistant|>");
  expect(format.stopIds[0]).toBe(257);
});

test("where there is a tokenizer it is used, with its vocabulary", async () => {
  using folder = temporaryFolder();
  writeModelFiles(folder.path);
  const path = join(folder.path, "model");
  await writeStandIn(path, JSON.stringify(tinyConfig()), folder.path);
  expect(readFileSync(join(path, "tokenizer.json"), "utf8")).toBe(
    readFileSync(join(folder.path, "tokenizer.json"), "utf8"),
  );
  expect(existsSync(join(path, "chat_template.jinja"))).toBe(false);
  expect(JSON.parse(readFileSync(join(path, "config.json"), "utf8"))).toMatchObject({ vocab_size: 270 });
});

test("a value the core does not know is named", async () => {
  using folder = temporaryFolder();
  const strange = JSON.stringify(tinyConfig({ hidden_act: "relu6" }));
  await expect(writeStandIn(join(folder.path, "m"), strange)).rejects.toThrow("hidden_act");
});

const published = JSON.parse(readFileSync("test/fixtures/models/published.json", "utf8")) as Record<
  string,
  { readonly config: Record<string, unknown> }
>;

test.each(Object.entries(published))("%s made small is read by the core", (_, { config }) => {
  const { layers } = modelFacts(shrinkConfig(JSON.stringify(config)));
  expect(layers).toBe(config["model_type"] === "nemotron_h" ? 3 : 2); // one layer of each kind
});
