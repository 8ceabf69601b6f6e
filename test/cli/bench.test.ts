import { expect, test } from "vitest";
import { BENCH_SHAPES, type BenchOptions, benchModels, benchText } from "../../lib/cli/bench.ts";
import { HoneError } from "../../lib/errors.ts";
import { type Core, nativeCore } from "../../lib/orchestration/index.ts";
import { networkOf } from "../../lib/plan/index.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";

const options: BenchOptions = {
  ...{ device: "cpu", shapes: ["tiny"], batches: [1, 3], outputTokens: 16 },
  ...{ packedTokens: 256, sequenceTokens: 128 },
};

test("every shape has room for the sequences of 4,096 tokens that the command trains on", () => {
  for (const shape of Object.values(BENCH_SHAPES)) {
    expect(shape["max_position_embeddings"]).toBeGreaterThanOrEqual(4096);
  }
});

test("fewer tokens than the warm-up generates are measured too", async () => {
  const core = await nativeCore();
  const rows = await benchModels(core, { ...options, batches: [2], outputTokens: 3, packedTokens: 32 });
  expect(rows.map((row) => "tokensPerSecond" in row && row.tokensPerSecond > 0)).toEqual([true, true]);
}, 60_000);

test("a small model on the CPU: a row a batch and one for training, each with its work", async () => {
  const rows = await benchModels(await nativeCore(), options);
  expect(rows.map((row) => [row.what, "size" in row ? row.size : undefined])).toEqual([
    ["generation", 1],
    ["generation", 3],
    ["training", 256],
  ]);
  const n = networkOf(JSON.stringify(BENCH_SHAPES["tiny"]));
  for (const row of rows) {
    if ("problem" in row) throw new Error(row.problem);
    expect(row.tokensPerSecond).toBeGreaterThan(0);
    expect(row.ofFloor).toBeUndefined();
    const work = row.rate / row.tokensPerSecond; // a token
    if (row.what === "training") {
      // 2 FLOP a weight forward and 4 backward; keys and values of half a sequence of 128, scores and sums
      expect(work).toBeCloseTo(6 * (2 * n.layerMatrices + 512 * 64) + 6 * 2 * 64 * 128, 3);
    } else {
      const context = 2 * 2 * 2 * 16 * 24 * 4; // layers, keys and values, heads, head size, 16 + 8 tokens, f32
      expect(work).toBeCloseTo(((2 * n.layerMatrices + 512 * 64) * 4) / row.size + context, 3);
    }
  }
}, 60_000);

const gpuCore = (core: Partial<Core> = {}): Core => {
  const standIn = standInCore();
  const cuda = {
    compiled: "13.0",
    driver: "13.0",
    devices: ["NVIDIA H200 (sm_90, 139.8 GiB)"],
    reason: null,
  };
  return { ...standIn, info: () => ({ ...standIn.info(), cuda }), ...core };
};

test("a model that does not fit is a gap with the reason, and the others go on", async () => {
  const tooLarge = () => {
    throw new HoneError("HONE_ERR_OUT_OF_MEMORY", "parameters: 131 GB wanted, 120 GB free");
  };
  const rows = await benchModels(gpuCore({ trainer: tooLarge }), {
    ...options,
    device: "cuda",
    shapes: ["8b", "4b"],
  });
  expect(rows).toEqual(
    ["8b", "4b"].map((shape) => ({
      shape,
      what: "generation",
      problem: "parameters: 131 GB wanted, 120 GB free",
    })),
  );
});

test("any other failure is one", async () => {
  const broken = () => {
    throw new HoneError("HONE_ERR_CUDA", "illegal address");
  };
  await expect(benchModels(gpuCore({ trainer: broken }), { ...options, device: "cuda" })).rejects.toThrow(
    "illegal address",
  );
});

test("no GPU and no such shape are said before anything starts", async () => {
  const core = standInCore();
  await expect(benchModels(core, { ...options, device: "cuda" })).rejects.toMatchObject({
    code: "HONE_ERR_CUDA",
    message: "no GPU to bench: stand-in",
  });
  await expect(benchModels(core, { ...options, shapes: ["tiny", "9b"] })).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: "there is no shape 9b; known: 0.6b, 4b, 8b, tiny",
  });
  expect(core.trainers).toEqual([]);
});

test("the shapes are those of 0.6, 4 and 8 billion weights", () => {
  const millions = Object.values(BENCH_SHAPES).map(
    (config) => networkOf(JSON.stringify(config)).parameters / 1e6,
  );
  expect(millions.map(Math.round)).toEqual([596, 4022, 8191, 0]);
});

test("one aligned table", () => {
  const rows = [
    {
      shape: "8b",
      what: "generation",
      size: 64,
      tokensPerSecond: 5123.4,
      rate: 3.9e12,
      unit: "B/s",
      ofFloor: 0.8125,
    },
    { shape: "8b", what: "training", size: 16_384, tokensPerSecond: 9000, rate: 4.5e14, unit: "FLOP/s" },
    { shape: "4b", what: "training", problem: "out of memory" },
  ] as const;
  expect(benchText(rows, "H200").split("\n")).toEqual([
    "device: H200",
    "shape  what                                 tokens/s             rate",
    "8b     generation, batch 64                    5,123      3900.0 GB/s  81.3 % of the floor",
    "8b     training              16,384 packed     9,000  450.000 TFLOP/s",
    "4b     training                                                        out of memory",
  ]);
});
