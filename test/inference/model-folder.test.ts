import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inspectModel, loadModel, scoreSequences } from "../../lib/inference/index.ts";
import { Trainer } from "../../lib/native/index.ts";

const CONFIG = {
  model_type: "llama",
  vocab_size: 40,
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  intermediate_size: 32,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
  hidden_act: "silu",
  rope_theta: 10000,
};
const OPTIMIZER = {
  kind: "adamw" as const,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  decayAll: false,
  muonMomentum: 0.95,
  gradientClip: 0,
};

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-model-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function saveModel(): Promise<Float32Array> {
  const options = { optimizer: OPTIMIZER, packedTokens: 64, weightStorage: "f32" as const };
  const trainer = new Trainer(JSON.stringify(CONFIG), options);
  await trainer.initialize(5n);
  await trainer.save(join(dir, "model"), "");
  const embedding = await trainer.parameter("model.embed_tokens.weight");
  await trainer.close();
  return embedding;
}

test("a folder that was saved loads with the same weights and its vocabulary", async () => {
  const embedding = await saveModel();
  await using model = await loadModel(join(dir, "model"));
  expect(model.vocabulary).toBe(40);
  expect(await model.weights.parameter("model.embed_tokens.weight")).toEqual(embedding);
});

test("the longest sequence is asked for only where the numbers depend on it", async () => {
  await saveModel();
  const maxContext = () => Promise.reject(new Error("asked"));
  await using model = await loadModel(join(dir, "model"), { maxContext });
  expect(model.maxPositions).toBe(64);
  await expect(loadModel("test/fixtures/models/longrope", { maxContext })).rejects.toThrow("asked");
});

test("a config that does not say how long a context may be is scored like any other", async () => {
  await saveModel();
  const { max_position_embeddings: _, ...config } = CONFIG;
  writeFileSync(join(dir, "model", "config.json"), JSON.stringify(config));
  await using model = await loadModel(join(dir, "model"));
  const { vocabulary, maxPositions, weights } = model;
  expect(maxPositions).toBe(2048);
  const [score] = await scoreSequences(weights, [[1, 2, 3]], { temperature: 1, vocabulary, maxPositions });
  expect([score!.logprobs.length, score!.entropy.length]).toEqual([2, 3]);
  expect(score!.entropy.every((nats) => nats > 0 && nats <= Math.log(vocabulary) + 1e-5)).toBe(true);
  expect((await inspectModel(join(dir, "model"))).sizes["maxPositions"]).toBe(2048);
});

test("a folder without a config says which file it looked for and what belongs there", async () => {
  await expect(loadModel(dir)).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringContaining(join(dir, "config.json")),
    hint: expect.stringContaining("model.safetensors"),
  });
});

test("weights that are missing are named", async () => {
  writeFileSync(join(dir, "config.json"), JSON.stringify(CONFIG));
  await expect(loadModel(dir)).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringContaining("model.safetensors"),
  });
});

test("a config the core does not understand names the field", async () => {
  writeFileSync(join(dir, "config.json"), JSON.stringify({ ...CONFIG, hidden_act: "relu6" }));
  await expect(loadModel(dir)).rejects.toMatchObject({
    message: expect.stringContaining("hidden_act"),
  });
});
