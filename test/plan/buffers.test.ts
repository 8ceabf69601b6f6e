// The formulas against the operating system: what a real trainer and engine take is what they say. Mutants tried and
// killed: activations of two layers less, half of what is kept, keys without values, recompute without the one layer;
// in memory.ts one moment, shards over all GPUs, room without the keys and values themselves; in fit.ts >= for >.
import { afterAll, expect, test } from "vitest";
import type { TrainingBatch } from "../../lib/native/face.ts";
import { Engine, Generations, Trainer } from "../../lib/native/index.ts";
import {
  engineScratchBytes,
  headScratchBytes,
  keptActivationBytes,
  keyValueBytesPerToken,
  layerActivationBytes,
  trainingScratchBytes,
} from "../../lib/plan/buffers.ts";
import { networkOf } from "../../lib/plan/index.ts";
import { long } from "../long.ts";
import { engineOptions, optimizer, request, stepOptions } from "../native/small-model.ts";
import { patient } from "../patience.ts";

const config = JSON.stringify({
  model_type: "qwen3",
  vocab_size: 2048,
  hidden_size: 256,
  num_hidden_layers: 8,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 32,
  intermediate_size: 768,
  max_position_embeddings: 4096,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
  hidden_act: "silu",
});
const network = networkOf(config);
const MIB = 2 ** 20;
/** What the process takes for itself meanwhile. */
const NOISE = 12 * MIB;
const residentBytes = () => process.memoryUsage.rss();

function batch(tokens: number, length: number): TrainingBatch {
  const sequences = tokens / length;
  return {
    tokens: Int32Array.from({ length: tokens }, (_, i) => (i * 7919) % network.vocabulary),
    cuSeqlens: Int32Array.from({ length: sequences + 1 }, (_, i) => i * length),
    mask: Uint8Array.from({ length: tokens }, (_, i) => (i % length === 0 ? 0 : 1)),
  };
}

const open: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

/** Bytes a trainer has taken after a step of `tokens`. */
async function measured(tokens: number): Promise<{ bytes: number; trainer: Trainer }> {
  const before = residentBytes();
  const trainer = new Trainer(config, { optimizer, packedTokens: tokens, weightStorage: "f32" });
  open.push(trainer);
  await trainer.initialize(1n);
  await trainer.step(batch(tokens, 256), { ...stepOptions, objective: "supervised" });
  return { bytes: residentBytes() - before, trainer };
}

const activations = (tokens: number) => ({ tokens, element: 4, recompute: false }) as const;
const arena = (tokens: number) =>
  keptActivationBytes(network, activations(tokens)) +
  trainingScratchBytes(network, activations(tokens)) +
  headScratchBytes(network, tokens);

test.runIf(long)(
  "a trainer takes weights four times over, its packed copies, and the activations of a micro-batch",
  async () => {
    const n = network;
    const state = n.parameters * 4 * 4;
    const snapshot = (n.layers * n.layerMatrices + n.vectors + 2 * n.embedding) * 4;
    const transposed = (n.layers * n.layerMatrices + n.embedding) * 4;
    const { bytes } = await measured(2048);
    const planned = state + snapshot + transposed + arena(2048);
    expect(Math.abs(bytes - planned), `${bytes} measured, ${planned} planned`).toBeLessThan(
      0.06 * planned + NOISE,
    );
  },
  patient(120_000),
);

test(
  "an engine takes its keys and values and its scratch",
  async () => {
    const { trainer } = await measured(256);
    const pages = 1024;
    const before = residentBytes();
    const options = { ...engineOptions, maxContext: 4096, pages, maxRunning: 4, stepTokens: 512 };
    const generations = new Generations((handlers) => new Engine(config, options, handlers));
    open.unshift(generations);
    await trainer.publish(generations.engine);
    const prompt = Int32Array.from({ length: 3968 }, (_, i) => (i * 31) % network.vocabulary);
    const ask = (id: number) =>
      generations.generate(request(id, { prompt, count: 1, maxTokens: 100, stopIds: [] }));
    await Promise.all([1, 2, 3, 4].map(ask));
    const planned = pages * 16 * keyValueBytesPerToken(network, 4) + engineScratchBytes(network, 512, 0, 4);
    expect(Math.abs(residentBytes() - before - planned)).toBeLessThan(0.06 * planned + NOISE);
  },
  patient(120_000),
);

test("computing activations again keeps what enters each layer, and one layer whole", () => {
  const tokens = 100;
  const kept = keptActivationBytes(network, { tokens, element: 2, recompute: false });
  const again = keptActivationBytes(network, { tokens, element: 2, recompute: true });
  const layer = layerActivationBytes(network, 2);
  expect(kept - again).toBe(tokens * ((network.layers - 1) * layer - network.layers * network.width * 2));
});

test("a chunk of logits stays small however large the vocabulary", () => {
  for (const vocabulary of [32, 2048, 151_936]) {
    const n = networkOf(JSON.stringify({ ...JSON.parse(config), vocab_size: vocabulary }));
    expect(headScratchBytes(n, 1 << 20)).toBeLessThanOrEqual(Math.max(128 * 1024, 64 * vocabulary) * 8);
    expect(headScratchBytes(n, 1)).toBe(vocabulary * 8);
  }
});
