// Reads every published config.json; what cannot be read is refused by every command that reads a model.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { inspectModel, layersOfAttention, modelFacts } from "../../lib/inference/index.ts";
import { networkOf } from "../../lib/plan/index.ts";
import { temporaryFolder, tinyConfig } from "../fixtures/model-folder.ts";

interface Published {
  readonly parameters: number;
  readonly config: Readonly<Record<string, unknown>>;
}
const PUBLISHED = JSON.parse(readFileSync("test/fixtures/models/published.json", "utf8")) as Record<
  string,
  Published
>;
afterEach(() => void vi.unstubAllEnvs());

test.each(Object.entries(PUBLISHED))("%s is read without a warning", (_, { parameters, config }) => {
  vi.stubEnv("HONE_STRICT_CONFIG", "1");
  const facts = modelFacts(JSON.stringify(config));
  expect(facts).toMatchObject({ parameters, warnings: [] });
  expect(networkOf(JSON.stringify(config)).vectors).toBeGreaterThan(0);
});

// All weights except the experts that a token is not routed to. The model cards of the first three say 3.3, 1.3 and
// 12.9 billion, that of Nemotron-3-Nano 3.6.
test.each([
  ["Qwen/Qwen3-30B-A3B", 3_353_032_704],
  ["allenai/OLMoE-1B-7B-0924", 1_282_017_280],
  ["mistralai/Mixtral-8x7B-v0.1", 12_879_925_248],
  ["zai-org/GLM-4.5-Air", 13_424_129_664],
  ["ibm-granite/granite-4.0-h-tiny", 1_465_470_528],
  ["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 3_580_076_352],
  ["Qwen/Qwen3-0.6B", 596_049_920],
])("%s multiplies a token by so many weights", (name, active) => {
  const config = JSON.stringify(PUBLISHED[name]!.config);
  expect(modelFacts(config).activeParameters).toBe(active);
  const { embedding, tiedHead, vectors, layers, layerMatrices } = networkOf(config);
  expect(layers * layerMatrices + embedding * (tiedHead ? 1 : 2) + vectors).toBe(active);
});

test("an unknown field is told once, and refused where that is asked for", async () => {
  const config = JSON.stringify(tinyConfig({ colour: "blue" }));
  const told: Error[] = [];
  const listen = (warning: Error) => void told.push(warning);
  process.on("warning", listen);
  modelFacts(config, "mine/config.json");
  modelFacts(config, "mine/config.json");
  await new Promise(setImmediate);
  process.off("warning", listen);
  expect(told.map(({ message }) => message)).toEqual([
    'mine/config.json: colour = "blue" is not a field that Hone knows, so it is ignored; --strict-config refuses it',
  ]);
  vi.stubEnv("HONE_STRICT_CONFIG", "1");
  expect(() => modelFacts(config)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_UNSUPPORTED",
      message: expect.stringContaining('colour = "blue"'),
    }),
  );
});

test("all problems of a config come at once", () => {
  const config = tinyConfig({ hidden_act: "gelu", mlp_bias: true, num_key_value_heads: 3 });
  expect(() => modelFacts(JSON.stringify(config))).toThrow(
    /3 problems:\n.*hidden_act[\s\S]*mlp_bias[\s\S]*num_attention_heads/,
  );
});

describe("a mixture of experts that no architecture has is refused in one line", () => {
  const config = tinyConfig({ model_type: "deepseek_v3", num_experts: 128 });
  const refusal = /^[^\n]*model_type "deepseek_v3" is a mixture of experts[^\n]*$/;
  test("by inspect", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "config.json"), JSON.stringify(config));
    await expect(inspectModel(folder.path)).rejects.toThrow(refusal);
  });
  test("by plan", () => expect(() => networkOf(JSON.stringify(config))).toThrow(refusal));
});

test("layers of gated DeltaNet, Mamba-2 and short convolution have no keys and values", () => {
  const config = JSON.stringify(PUBLISHED["Qwen/Qwen3.5-0.8B"]!.config);
  const { layers } = modelFacts(config);
  expect([layers, layersOfAttention(config, layers)]).toEqual([24, 6]); // one layer in four has attention
  for (const [name, attention] of [
    ["ibm-granite/granite-4.0-h-350m", 4],
    ["LiquidAI/LFM2-350M", 6],
    ["tiiuae/Falcon-H1-0.5B-Instruct", 32],
    ["nvidia/Nemotron-H-8B-Base-8K", 4],
    ["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 6],
  ] as const)
    expect(layersOfAttention(JSON.stringify(PUBLISHED[name]!.config), 32)).toBe(attention);
  expect(layersOfAttention(JSON.stringify(tinyConfig()), 2)).toBe(2);
});

test("keys and values take what each layer's heads do", () => {
  const { layers, kvHeads, headDim, cacheWidth } = modelFacts(JSON.stringify(tinyConfig()));
  expect(cacheWidth).toBe(layers * 2 * kvHeads * headDim);
  const large = modelFacts(JSON.stringify(PUBLISHED["google/gemma-4-31B"]!.config));
  expect(large.cacheWidth).toBe(2 * (50 * 16 * 256 + 10 * 4 * 512)); // ten of its sixty layers have no window
});
