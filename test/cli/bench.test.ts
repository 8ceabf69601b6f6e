import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BENCH_SHAPES, type BenchOptions, benchModels, benchText } from "../../lib/cli/bench.ts";
import { HoneError } from "../../lib/errors.ts";
import { type Core, nativeCore } from "../../lib/orchestration/index.ts";
import { networkOf } from "../../lib/plan/index.ts";
import { StandInEngine, standInCore } from "../orchestration/stand-in-core.ts";
import { patient } from "../patience.ts";

const options: BenchOptions = {
  parts: ["generation", "prefill", "training"],
  promptSequences: [1],
  loraRank: 4,
  recompute: false,
  device: "cpu",
  shapes: ["tiny"],
  batches: [1, 3],
  outputTokens: 16,
  promptTokens: [24],
  weightStorage: "f32",
  arithmetic: "f32",
  packedTokens: [256],
  sequenceTokens: 128,
};

test(
  "LoRA alone: a trainer with adapters, whose work leaves the frozen weights' gradients out",
  async () => {
    const core = await nativeCore();
    const asked: object[] = [];
    const watched: Core = {
      ...core,
      trainer: (config, given) => {
        asked.push(given);
        return core.trainer(config, given);
      },
    };
    const rows = await benchModels(watched, { ...options, parts: ["lora"], recompute: true });
    const lora = expect.objectContaining({ rank: 4 });
    expect(asked).toEqual([expect.objectContaining({ lora, recompute: true })]);
    const n = networkOf(JSON.stringify(BENCH_SHAPES["tiny"]));
    const [row] = rows;
    if (row === undefined || "problem" in row) throw new Error("no row");
    expect(rows).toHaveLength(1);
    expect(row).toMatchObject({ what: "lora", size: 256 });
    const work = 4 * (2 * n.layerMatrices + 512 * 64) + 6 * 2 * 64 * 128;
    expect(row.rate / row.tokensPerSecond).toBeCloseTo(work, 3);
  },
  patient(60_000),
);

test("with weights in bf16 a LoRA trainer reads its base from a folder of bf16, which is then gone", async () => {
  const core = await nativeCore();
  const loaded: string[] = [];
  const trainer: Core["trainer"] = (config, given) => {
    const made = core.trainer(config, given);
    const load = made.loadHf.bind(made);
    made.loadHf = (folder) => {
      loaded.push(folder, readFileSync(`${folder}/model.safetensors`, "latin1").match(/"dtype":"\w+"/)![0]);
      return load(folder);
    };
    return made;
  };
  await benchModels({ ...core, trainer }, { ...options, parts: ["lora"], weightStorage: "bf16" });
  expect(loaded).toEqual([expect.any(String), '"dtype":"BF16"']);
  expect(existsSync(loaded[0]!)).toBe(false);
});

test(
  "prompts at once are a row of their own, and count every prompt's tokens",
  async () => {
    const rows = await benchModels(await nativeCore(), {
      ...options,
      parts: ["prefill"],
      promptSequences: [1, 3],
    });
    expect(rows).toEqual([
      expect.objectContaining({ what: "prefill", size: 24, sequences: 1 }),
      expect.objectContaining({ what: "prefill", size: 24, sequences: 3 }),
    ]);
    expect(benchText(rows, "CPU", 0)).toContain("3 × 24 tokens");
  },
  patient(60_000),
);

test("every shape has room for the sequences of 4,096 tokens that the command trains on", () => {
  for (const shape of Object.values(BENCH_SHAPES)) {
    expect(shape["max_position_embeddings"]).toBeGreaterThanOrEqual(4096);
  }
});

test(
  "fewer tokens than the warm-up generates are measured too",
  async () => {
    const core = await nativeCore();
    const rows = await benchModels(core, {
      ...options,
      batches: [2],
      outputTokens: 3,
      packedTokens: [32, 16],
    });
    expect(rows.map((row) => "tokensPerSecond" in row && row.tokensPerSecond > 0)).toEqual([
      true,
      true,
      true,
      true,
    ]);
  },
  patient(60_000),
);

test.each([
  ["f32", "f32", 4],
  ["bf16", "f32", 2],
  ["bf16", "bf16", 2],
] as const)(
  "a small model on the CPU: a row a batch, one for a prompt and one for training, each with its work (%s, %s)",
  async (weightStorage, arithmetic, bytes) => {
    const rows = await benchModels(await nativeCore(), { ...options, weightStorage, arithmetic });
    expect(rows.map((row) => [row.what, "size" in row ? row.size : undefined])).toEqual([
      ["generation", 1],
      ["generation", 3],
      ["prefill", 24],
      ["training", 256],
    ]);
    const n = networkOf(JSON.stringify(BENCH_SHAPES["tiny"]));
    for (const row of rows) {
      if ("problem" in row) throw new Error(row.problem);
      expect(row.tokensPerSecond).toBeGreaterThan(0);
      expect(row.ofFloor).toBeUndefined();
      const work = row.rate / row.tokensPerSecond; // FLOP or bytes per token
      if (row.what === "training") {
        // 2 FLOP a weight forward and 4 backward; attention over 64 keys and values on average, half of a sequence of
        // 128
        expect(work).toBeCloseTo(6 * (2 * n.layerMatrices + 512 * 64) + 6 * 2 * 64 * 128, 3);
      } else if (row.what === "prefill") {
        expect(work).toBeCloseTo(2 * 2 * n.layerMatrices + 2 * 2 * 64 * 24, 3);
      } else {
        const context = 2 * 2 * 2 * 16 * 24 * bytes; // layers × (key, value) × heads × head size × (16 prompt + 8 sampled tokens)
        expect(work).toBeCloseTo((2 * n.layerMatrices * bytes + 512 * 64 * 4) / row.size + context, 3);
      }
    }
  },
  patient(60_000),
);

const gpuCore = (core: Partial<Core> = {}, gpu = "NVIDIA H200 (sm_90, 139.8 GiB)"): Core => {
  const standIn = standInCore();
  const cuda = {
    compiled: "13.0",
    driver: "13.0",
    devices: [gpu],
    memoryBytes: 150_000_000_000,
    reason: null,
  };
  return { ...standIn, info: () => ({ ...standIn.info(), cuda }), ...core };
};

/** A GPU with scripted timing: k engine steps take k² seconds; the trainer's first step takes 100 seconds, each later one 2. */
function pacedCore(gpu?: string) {
  const asked: object[] = [];
  const closed: string[] = [];
  const length = () => 1000;
  const onStep = (_: unknown, __: unknown, step: number) => ({
    forwardSeconds: step === 0 ? 100 : 0.5,
    backwardSeconds: 1.25,
    optimizerSeconds: 0.25,
  });
  const { engine: makeEngine, trainer: makeTrainer, trainers } = standInCore({ length, onStep });
  const core: Partial<Core> = {
    engine: (config, options, handlers) => {
      asked.push(options);
      const engine = makeEngine(config, options, handlers);
      const stats = () => ({ ...StandInEngine.prototype.stats.call(engine) });
      engine.stats = () => ({
        ...stats(),
        decodeSeconds: stats().steps ** 2,
        prefillSeconds: stats().steps / 2,
      });
      engine.close = async () => void closed.push("engine");
      return engine;
    },
    trainer: (config, options) => {
      asked.push(options);
      const trainer = makeTrainer(config, options);
      trainer.close = async () => void closed.push("trainer");
      return trainer;
    },
  };
  return { core: gpuCore(core, gpu), asked, closed, trainers };
}

const H200 = { bandwidth: 4.8e12, flops: 989e12 };
// Qwen3-0.6B: 28 layers of 1024 × (4096 + 2048 + 3 × 3072) weights; an embedding of 151,936 × 1024 shared with the
// head; 28 × 2 × 8 × 128 keys and values a token
const [LAYERS, HEAD, CACHE] = [28 * 15_728_640, 151_936 * 1024, 28 * 2 * 8 * 128];

test("on a GPU weights, a tied head and keys are two bytes an element; the warm-up counts for nothing", async () => {
  const { core, asked, closed, trainers } = pacedCore();
  const rows = await benchModels(core, { ...options, device: "cuda", shapes: ["0.6b"] });
  const bytes = 2 * (LAYERS + HEAD + 24 * CACHE);
  const flop = 256 * (6 * (LAYERS + HEAD) + 6 * 28 * 16 * 128 * 128);
  const prompt = 2 * LAYERS + 2 * 28 * 16 * 128 * 24;
  // 8 warm-up and 16 timed steps with one sequence, then 8 and 16 with three sequences at once
  const [one, three] = [24 ** 2 - 8 ** 2, 48 ** 2 - 32 ** 2];
  const bytesOfThree = bytes + 2 * 2 * 24 * CACHE;
  expect(rows).toEqual([
    {
      shape: "0.6b",
      what: "generation",
      size: 1,
      unit: "B/s",
      tokensPerSecond: 16 / one,
      rate: (16 * bytes) / one,
      ofFloor: expect.closeTo((16 * bytes) / one / H200.bandwidth, 12),
    },
    {
      shape: "0.6b",
      what: "generation",
      size: 3,
      unit: "B/s",
      tokensPerSecond: 48 / three,
      rate: (16 * bytesOfThree) / three,
      ofFloor: expect.closeTo((16 * bytesOfThree) / three / H200.bandwidth, 12),
    },
    {
      shape: "0.6b",
      what: "prefill",
      size: 24,
      sequences: 1,
      unit: "FLOP/s",
      tokensPerSecond: 24 / 0.5,
      rate: (24 * prompt) / 0.5,
      ofFloor: expect.closeTo((24 * prompt) / 0.5 / H200.flops, 12),
    },
    {
      shape: "0.6b",
      what: "training",
      size: 256,
      unit: "FLOP/s",
      tokensPerSecond: 256 / 2,
      rate: flop / 2,
      ofFloor: expect.closeTo(flop / 2 / H200.flops, 12),
    },
  ]);
  const onGpu = { device: "cuda", weightStorage: "bf16" };
  expect(asked).toEqual([
    expect.objectContaining({ ...onGpu, packedTokens: 256 }),
    // three sequences of 16 + 16 tokens take two pages each, plus one spare page
    expect.objectContaining({ ...onGpu, maxRunning: 3, maxContext: 32, pageTokens: 16, pages: 9 }),
  ]);
  expect(closed).toEqual(["engine", "trainer"]);
  expect(trainers[0]!.steps).toHaveLength(2);
});

test("a head of its own is read in f32", async () => {
  const rows = await benchModels(pacedCore().core, {
    ...options,
    device: "cuda",
    shapes: ["8b"],
    batches: [1],
  });
  const [layers, head, cache] = [36 * 4096 * (6144 + 4096 + 3 * 12_288), 151_936 * 4096, 36 * 2 * 8 * 128];
  const bytes = 2 * (layers + 24 * cache) + 4 * head;
  expect(rows[0]).toMatchObject({ size: 1, rate: (16 * bytes) / (24 ** 2 - 8 ** 2) });
});

test.each([
  ["NVIDIA H200 (sm_90, 139.8 GiB)", 4.8e12, 989e12],
  ["NVIDIA H100 80GB HBM3 (sm_90, 79.2 GiB)", 3.35e12, 989e12],
  ["NVIDIA A100-SXM4-80GB (sm_80, 79.3 GiB)", 2.04e12, 312e12],
  ["NVIDIA A100-SXM4-40GB (sm_80, 39.4 GiB)", undefined, undefined],
  ["NVIDIA A100 80GB PCIe (sm_80, 79.3 GiB)", undefined, undefined],
  ["NVIDIA H100 PCIe (sm_90, 79.2 GiB)", undefined, undefined],
  ["NVIDIA H200 NVL (sm_90, 139.8 GiB)", undefined, undefined],
  ["NVIDIA GH200 480GB (sm_90, 94.5 GiB)", undefined, undefined],
  ["NVIDIA L4 (sm_89, 22.0 GiB)", undefined, undefined],
])("the floor of an %s is its data sheet's, of another card none", async (gpu, bandwidth, flops) => {
  const rows = await benchModels(pacedCore(gpu).core, { ...options, device: "cuda", batches: [1] });
  const peaks = rows.map((row) => ("rate" in row && row.ofFloor ? row.rate / row.ofFloor : undefined));
  const close = (peak?: number) => (peak === undefined ? undefined : expect.closeTo(peak, -3));
  expect(peaks).toEqual([close(bandwidth), close(flops), close(flops)]);
});

test("a step takes a token of every sequence that runs, and 512 at least", async () => {
  const stepTokens = async (...batches: number[]) => {
    const { core, asked } = pacedCore();
    await benchModels(core, { ...options, device: "cuda", batches });
    return (asked[1] as { stepTokens: number }).stepTokens;
  };
  expect([await stepTokens(1, 511), await stepTokens(1, 600)]).toEqual([512, 601]);
});

test.each([
  [256, 100, [0, 100, 200]],
  [100, 100, [0, 100]],
  [64, 128, [0, 64]],
])(
  "%d packed tokens in sequences of %d begin at %j; a first token is no target",
  async (packedTokens, sequenceTokens, cuSeqlens) => {
    const { core, trainers } = pacedCore();
    await benchModels(core, {
      ...options,
      device: "cuda",
      batches: [1],
      packedTokens: [packedTokens],
      sequenceTokens,
    });
    const total = cuSeqlens.at(-1)!;
    const { tokens, mask, cuSeqlens: begins } = trainers[0]!.steps[0]!;
    expect([...begins]).toEqual(cuSeqlens);
    expect([...mask]).toEqual(Array.from({ length: total }, (_, i) => (cuSeqlens.includes(i) ? 0 : 1)));
    expect(tokens).toHaveLength(total);
    expect(Math.max(...tokens)).toBeLessThan(512); // 512 is the vocabulary's size
  },
);

test("where keys and values do not fit the training step is measured all the same", async () => {
  const { core, closed } = pacedCore();
  const engine = () => {
    throw new HoneError("HONE_ERR_OUT_OF_MEMORY", "keys and values");
  };
  const rows = await benchModels({ ...core, engine }, { ...options, device: "cuda" });
  expect(rows).toEqual([
    { shape: "tiny", what: "generation", problem: "keys and values" },
    expect.objectContaining({ shape: "tiny", what: "training", tokensPerSecond: 128 }),
  ]);
  expect(closed).toEqual(["trainer"]);
});

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
    message: "--shape has 9b, which is not a known shape; known: 0.6b, 4b, 8b, tiny",
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
  expect(benchText(rows, "H200", 1.5 * 2 ** 30).split("\n")).toEqual([
    "device: H200",
    "shape  what                                 tokens/s             rate  of the floor",
    "8b     generation, batch 64                    5,123      3900.0 GB/s  81.3 %",
    "8b     training              16,384 packed     9,000  450.000 TFLOP/s",
    "4b     training                                                        out of memory",
    "peak memory of the process: 1.50 GiB",
  ]);
});
