// Compares the core's size estimates with the operating system's figures for a real trainer and engine.
// test/csrc/trainer/memory.test.cc and test/csrc/engine/memory.test.cc compare them with the arenas to the byte.
// Mutants tried, all killed: in memory.ts one moment, shards over all GPUs, a cache without the keys and values; in
// fit.ts >= for >.
import { getHeapSpaceStatistics } from "node:v8";
import { afterAll, expect, test } from "vitest";
import type { EngineOptions, TrainingBatch } from "../../lib/native/face.ts";
import { Engine, Generations, memorySizes, Trainer } from "../../lib/native/index.ts";
import { sizesOf } from "../../lib/plan/buffers.ts";
import { long, longest } from "../long.ts";
import { engineOptions, optimizer, request, stepOptions } from "../native/small-model.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";

const shape = {
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
};
const config = JSON.stringify(shape);
/** A shape with as many keys and values but a third of the arithmetic. */
const thin = JSON.stringify({ ...shape, hidden_size: 64, num_attention_heads: 4, intermediate_size: 128 });
const MIB = 2 ** 20;
/** What the process itself allocates meanwhile, outside JavaScript's heap: 0.8 to 1.6 MiB were measured. */
const NOISE = 4 * MIB;
/** Resident bytes without JavaScript's heap, which the collector may shrink or grow by 30 MB at any time. */
const residentBytes = () =>
  process.memoryUsage.rss() -
  getHeapSpaceStatistics().reduce((bytes, space) => bytes + space.physical_space_size, 0);

function batch(tokens: number, length: number): TrainingBatch {
  const sequences = tokens / length;
  return {
    tokens: Int32Array.from({ length: tokens }, (_, i) => (i * 7919) % 2048),
    cuSeqlens: Int32Array.from({ length: sequences + 1 }, (_, i) => i * length),
    mask: Uint8Array.from({ length: tokens }, (_, i) => (i % length === 0 ? 0 : 1)),
  };
}

const open: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

/** Measures the bytes that a trainer takes for a step of `tokens`. */
async function measured(tokens: number, of = config): Promise<{ bytes: number; trainer: Trainer }> {
  const before = residentBytes();
  const trainer = new Trainer(of, { optimizer, packedTokens: tokens, weightStorage: "f32" });
  open.push(trainer);
  await trainer.initialize(1n);
  await trainer.step(batch(tokens, 256), { ...stepOptions, objective: "supervised" });
  return { bytes: residentBytes() - before, trainer };
}

function sizes(tokens: number, engine: Partial<EngineOptions> = {}, threads = 2, of = config) {
  const trainer = { optimizer, packedTokens: tokens, weightStorage: "f32" } as const;
  const options = { engine: { ...engineOptions, ...engine }, trainer };
  return memorySizes(of, options, { sequences: Math.ceil(tokens / 256), threads });
}

test.runIf(longest)(
  "a trainer takes weights four times over, its packed copies, and the activations of a micro-batch",
  async () => {
    const { parameters, snapshot, activations, ...rest } = sizes(2048);
    const { trainingScratch, logits, arrays } = rest;
    const { bytes } = await measured(2048);
    const planned = 4 * parameters + snapshot + activations + trainingScratch + logits + arrays;
    expect(Math.abs(bytes - planned), `${bytes} measured, ${planned} planned`).toBeLessThan(
      0.06 * planned + NOISE,
    );
  },
  patient(120_000),
);

test.runIf(long)(
  "an engine takes its keys and values and its scratch",
  async () => {
    const { trainer } = await measured(256, thin);
    const pages = 1024;
    const before = residentBytes();
    const options = { ...engineOptions, maxContext: 4096, pages, maxRunning: 4, stepTokens: 512 };
    const generations = new Generations((handlers) => new Engine(thin, options, handlers));
    open.unshift(generations);
    await trainer.publish(generations.engine);
    const prompt = Int32Array.from({ length: 3968 }, (_, i) => (i * 31) % 2048);
    const ask = (id: number) =>
      generations.generate(request(id, { prompt, count: 1, maxTokens: 100, stopIds: [] }));
    await Promise.all([1, 2, 3, 4].map(ask));
    // With prompts this long the ops split each prompt over threads, so that a thread does not use its own scratch.
    const { keyValues, engineScratch } = sizes(256, options, 0, thin);
    const planned = keyValues + engineScratch;
    expect(Math.abs(residentBytes() - before - planned)).toBeLessThan(0.06 * planned + NOISE);
  },
  patient(120_000),
);

test("computing activations again saves seven of eight layers, less what enters them", () => {
  const recipe = { ...smallRecipe(), hardware: { gpu: "x", gpuMemoryGiB: 1, gpus: 1, recompute: true } };
  for (const [device, bytes] of [
    ["cpu", 4],
    ["cuda", 2],
  ] as const) {
    const [kept, again] = [smallRecipe(), recipe].map((r) => sizesOf(r, config, device, 2));
    // Per token: attention's result 256, gate and up 1536, after attention 256, q and k before their norm 384; in f32 the
    // log-sum-exp of 8 heads. And qkv 512; on the CPU all layers share one, and keep v, 128.
    const layer = (256 + 1536 + 256 + 384) * bytes + 8 * 4;
    const heads = (device === "cpu" ? 8 * 128 : 7 * 512) * bytes;
    expect(kept!.activations - again!.activations).toBe((7 * layer + heads) * recipe.training.packedTokens);
    expect({ ...again, activations: 0 }).toEqual({ ...kept, activations: 0 });
  }
});

test.each(["cpu", "cuda"] as const)(
  "of a longest answer that trainers have together one keeps its part, and alone all of it: %s",
  (device) => {
    const activations = (sequence: number, trainers: number) => {
      const hardware = {
        processes: { actors: 1, trainers },
        sharding: { stage: "optimizer", exact: true, sequence },
      } as const;
      const recipe = smallRecipe({ packedTokens: 16 });
      return sizesOf(
        { ...recipe, hardware: { ...recipe.hardware!, ...hardware } },
        config,
        device,
        2,
        trainers,
      ).activations;
    };
    expect(activations(4, 4)).toBe(activations(4, 1) / 4); // the longest sequence has 64 + 24 tokens
    expect(activations(4, 4)).toBeLessThan(0.3 * activations(1, 4));
  },
);

test("rows of the head's gradient take two bytes a logit on a GPU, and nothing on the CPU", () => {
  const logits = (device: "cpu" | "cuda", headRows: 2048 | 8192) =>
    sizesOf(smallRecipe({ packedTokens: 9000, headRows }), config, device, 2).logits;
  expect(logits("cuda", 8192)).toBe(8192 * 2048 * 2);
  expect(logits("cuda", 2048)).toBe(logits("cuda", 8192) / 4);
  expect(logits("cpu", 8192)).toBe(logits("cpu", 2048));
});

test("a micro-batch may hold every answer of a step: each takes 48 bytes of arrays", () => {
  const { training, rollouts } = smallRecipe();
  const [few, many] = [1, 2].map((factor) => {
    const recipe = smallRecipe({}, { rollouts: { ...rollouts, groupSize: factor * rollouts.groupSize } });
    return sizesOf(recipe, config, "cpu", 2).arrays;
  });
  expect(many! - few!).toBe(48 * training.groupsPerStep * rollouts.groupSize);
});

test("a GPU is answered for without one, with what only its kernels need", () => {
  const [cpu, gpu] = (["cpu", "cuda"] as const).map((device) => sizesOf(smallRecipe(), config, device, 2));
  expect(gpu!.parameters).toBe(cpu!.parameters);
  expect(gpu!.head).toBe(0); // a tied head uses the embedding
  expect(gpu!.page).toBe(cpu!.page / 2);
  // 256 rows of 2048 logits in f32, with the sums (16 bytes) and candidates (12) of 16 tiles, in addition to a step's
  // rows
  expect(gpu!.engineScratch).toBeGreaterThan(256 * (2048 * 4 + 16 * 28));
});

test("a chunk of logits stays small however large the vocabulary", () => {
  for (const vocabulary of [32, 2048, 151_936]) {
    const options = {
      engine: engineOptions,
      trainer: { optimizer, packedTokens: 1 << 20, weightStorage: "f32" },
    } as const;
    const { logits } = memorySizes(
      JSON.stringify({ ...JSON.parse(config), vocab_size: vocabulary }),
      options,
      { sequences: 1, threads: 1 },
    );
    // 64 rows with their ids while sampling; 168 rows in training, where the vocabulary is large
    const most = Math.max(
      128 * 1024 * 8,
      64 * vocabulary * 8,
      vocabulary < 16_384 ? 0 : 168 * vocabulary * 4,
    );
    expect(logits).toBeLessThanOrEqual(most + 64);
  }
});
