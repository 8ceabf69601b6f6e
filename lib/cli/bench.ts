import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import { convertModel, NO_OPTIMIZER, PUBLISHED_CONFIGS } from "../inference/index.ts";
import type { EngineFace, StepOptions, TrainerFace } from "../native/face.ts";
import { Generations } from "../native/generations.ts";
import type { Core } from "../orchestration/index.ts";
import { type Network, networkOf } from "../plan/index.ts";

/** Model shapes to benchmark: published ones with random weights, and a small one that fits any machine. */
export const BENCH_SHAPES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "0.6b": PUBLISHED_CONFIGS["Qwen/Qwen3-0.6B"]!,
  "4b": PUBLISHED_CONFIGS["Qwen/Qwen3-4B"]!,
  "8b": PUBLISHED_CONFIGS["Qwen/Qwen3-8B"]!,
  tiny: {
    model_type: "qwen3",
    vocab_size: 512,
    hidden_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 16,
    intermediate_size: 192,
    max_position_embeddings: 4096,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    hidden_act: "silu",
    tie_word_embeddings: true,
  },
};

export const BENCH_PARTS = ["generation", "prefill", "training", "lora"] as const;
export type BenchPart = (typeof BENCH_PARTS)[number];

export interface BenchOptions {
  readonly parts: readonly BenchPart[];
  readonly device: "cpu" | "cuda";
  readonly shapes: readonly string[];
  /** Sequences decoding at once. */
  readonly batches: readonly number[];
  /** Tokens that each sequence generates. */
  readonly outputTokens: number;
  /** Lengths of the prompts with which prefill is measured, tokens. */
  readonly promptTokens: readonly number[];
  /** Number of prompts that one prefill processes at once. */
  readonly promptSequences: readonly number[];
  /** r of the adapters on all linear layers in the part "lora". */
  readonly loraRank: number;
  /** Training steps keep only the input of each layer (hardware.recompute): less memory, the same bits. */
  readonly recompute: boolean;
  /** Type of stored weights on the CPU; a GPU always has bf16. */
  readonly weightStorage: "f32" | "bf16";
  readonly arithmetic: "f32" | "bf16";
  /** Tokens of a training step, packed from sequences of `sequenceTokens`. */
  readonly packedTokens: readonly number[];
  readonly sequenceTokens: number;
}

export interface BenchRow {
  readonly shape: string;
  readonly what: BenchPart;
  /**
   * Size of the measurement: tokens of a prompt (prefill), number of sequences (decoding), or packed tokens
   * (training).
   */
  readonly size: number;
  /** For prefill only: number of prompts that are prefilled at once. */
  readonly sequences?: number;
  readonly tokensPerSecond: number;
  /** Bytes read from memory per second while generating, else operations per second. */
  readonly rate: number;
  readonly unit: "B/s" | "FLOP/s";
  /** The rate as a fraction of the device's peak; undefined on the CPU, whose floors `npm run bench` measures. */
  readonly ofFloor?: number;
}

/** A row that could not be measured, and the reason. */
export interface BenchGap {
  readonly shape: string;
  readonly what: BenchRow["what"];
  readonly problem: string;
}

/** Peak memory bytes and dense bf16 operations per second. */
interface Peak {
  readonly bandwidth?: number;
  readonly flops?: number;
}

/** Source: NVIDIA's data sheets (SXM parts, dense bf16). */
const PEAKS: readonly (readonly [name: RegExp, peak: Peak])[] = [
  [/\bH200/, { bandwidth: 4.8e12, flops: 989e12 }],
  [/\bH100/, { bandwidth: 3.35e12, flops: 989e12 }],
  [/\bA100.*80GB/, { bandwidth: 2.04e12, flops: 312e12 }],
];

const PROMPT_TOKENS = 16;
const PAGE_TOKENS = 16;
const WARM_UP_TOKENS = 8;

/**
 * Measures tokens per second of whole models with random weights: generation at each batch size, prefill, and
 * packed training steps. Returns a gap with its reason for a shape that does not fit. Throws HONE_ERR_CUDA
 * where there is no GPU for `device` cuda, HONE_ERR_USAGE for an unknown shape.
 */
export async function benchModels(core: Core, options: BenchOptions): Promise<(BenchRow | BenchGap)[]> {
  const unknown = options.shapes.find((shape) => !Object.hasOwn(BENCH_SHAPES, shape));
  if (unknown !== undefined) {
    throw new HoneError(
      "HONE_ERR_USAGE",
      `--shape has ${unknown}, which is not a known shape; known: ${Object.keys(BENCH_SHAPES).join(", ")}`,
    );
  }
  const { cuda } = core.info();
  if (options.device === "cuda" && cuda.devices.length === 0) {
    throw new HoneError("HONE_ERR_CUDA", `no GPU to bench: ${cuda.reason ?? "none was found"}`, {
      hint: "`npx hone doctor` shows what was found; `npx hone bench --device cpu --shape tiny` runs anywhere.",
    });
  }
  const peak = options.device === "cuda" ? gpuPeak(cuda.devices[0]!) : {};
  const rows: (BenchRow | BenchGap)[] = [];
  for (const shape of options.shapes) rows.push(...(await benchShape(core, shape, options, peak)));
  return rows;
}

function gpuPeak(device: string): Peak {
  return /PCIe|NVL/.test(device) ? {} : (PEAKS.find(([name]) => name.test(device))?.[1] ?? {});
}

async function benchShape(
  core: Core,
  shape: string,
  options: BenchOptions,
  peak: Peak,
): Promise<(BenchRow | BenchGap)[]> {
  const config = JSON.stringify(BENCH_SHAPES[shape]);
  const rows: (BenchRow | BenchGap)[] = [];
  const subject = { shape, config, network: networkOf(config), peak, ...options };
  const asked = (...parts: BenchPart[]) => parts.some((part) => options.parts.includes(part));
  const tried = async (what: BenchPart, work: () => Promise<BenchRow[]>) => {
    try {
      rows.push(...(await work()));
    } catch (error) {
      if (!HoneError.is(error) || error.code !== "HONE_ERR_OUT_OF_MEMORY") throw error;
      rows.push({ shape, what, problem: error.message });
    }
  };
  const withTrainer = async (what: BenchPart, work: (trainer: TrainerFace) => Promise<void>) => {
    let trainer: TrainerFace | undefined;
    try {
      await tried(what, async () => {
        trainer = core.trainer(config, trainerOptions(what, options));
        if (what === "lora" && bytesOf(options) === 2) await loadPublished(core, config, trainer);
        else await trainer.initialize(1n);
        return [];
      });
      if (trainer !== undefined) await work(trainer);
    } finally {
      await trainer?.close();
    }
  };
  const train = async (what: "training" | "lora", trainer: TrainerFace) => {
    for (const tokens of options.packedTokens)
      await tried(what, async () => [await benchTraining(trainer, tokens, what, subject)]);
  };
  if (asked("generation", "prefill", "training"))
    await withTrainer(asked("generation", "prefill") ? "generation" : "training", async (trainer) => {
      if (asked("generation", "prefill"))
        await tried("generation", () => benchGeneration(core, trainer, subject));
      if (asked("training")) await train("training", trainer);
    });
  if (asked("lora")) await withTrainer("lora", (trainer) => train("lora", trainer));
  return rows;
}

/** Loads random weights out of a folder in bf16, as published models are: a frozen base is then kept in bf16. */
async function loadPublished(core: Core, config: string, trainer: TrainerFace): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "hone-bench-"));
  const whole = core.trainer(config, { optimizer: NO_OPTIMIZER, packedTokens: 1, weightStorage: "f32" });
  try {
    await whole.initialize(1n);
    await whole.saveModel(join(folder, "f32"));
    await whole.close();
    await convertModel(join(folder, "f32"), { target: join(folder, "bf16"), dtype: "bf16" });
    await trainer.loadHf(join(folder, "bf16"));
  } finally {
    await whole.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const trainerOptions = (what: BenchPart, options: BenchOptions) => ({
  optimizer: NO_OPTIMIZER,
  packedTokens: Math.max(...options.packedTokens),
  recompute: options.recompute,
  ...placeOf(options),
  ...(what === "lora" && {
    lora: { rank: options.loraRank, alpha: 2 * options.loraRank, targets: ["all-linear"], seed: 1n },
  }),
});

/** Device and number types of engine and trainer. */
const placeOf = ({ device, weightStorage, arithmetic }: BenchOptions) =>
  device === "cuda" ? { device, weightStorage: "bf16" as const } : { weightStorage, arithmetic };

const bytesOf = ({ device, weightStorage }: BenchOptions) =>
  device === "cuda" || weightStorage === "bf16" ? 2 : 4;

interface Subject extends BenchOptions {
  readonly shape: string;
  readonly network: Network;
  readonly peak: Peak;
}

async function benchGeneration(
  core: Core,
  trainer: TrainerFace,
  subject: Subject & { readonly config: string },
): Promise<BenchRow[]> {
  const { config, network, outputTokens, parts } = subject;
  const batches = parts.includes("generation") ? subject.batches : [];
  const prompts = parts.includes("prefill") ? subject.promptTokens : [];
  const promptTokens = Math.max(0, ...prompts);
  const together = Math.max(1, ...(prompts.length > 0 ? subject.promptSequences : []));
  const maxRunning = Math.max(together, ...batches);
  const generated = PROMPT_TOKENS + Math.max(outputTokens, WARM_UP_TOKENS);
  const pagesFor = (tokens: number) => Math.ceil(tokens / PAGE_TOKENS) + 1;
  const engineOptions = {
    maxRunning,
    maxContext: Math.max(generated, promptTokens + 1),
    pageTokens: PAGE_TOKENS,
    stepTokens: Math.max(512, maxRunning + 1),
    runSeed: 1n,
    pages: Math.max(maxRunning * pagesFor(generated), together * pagesFor(promptTokens + 1)),
    ...placeOf(subject),
  } as const;
  let engine: EngineFace | undefined;
  const generations = new Generations((handlers) => {
    engine = core.engine(config, engineOptions, handlers);
    return engine;
  });
  let id = 0;
  const generate = (count: number, maxTokens: number, length = PROMPT_TOKENS) =>
    generations.generate({
      id: ++id,
      // prompts differ from each other, since the engine would otherwise reuse a cached prefix
      prompt: Int32Array.from({ length }, (_, i) => (i * 7 + id) % network.vocabulary),
      count,
      problem: id,
      firstAttempt: 0,
      maxTokens,
      stopIds: [],
      sampling: { temperature: 1 },
    });
  try {
    await trainer.publish(generations.engine);
    const rows: BenchRow[] = [];
    for (const batch of batches) {
      await generate(batch, WARM_UP_TOKENS);
      const before = engine!.stats();
      await generate(batch, outputTokens);
      const after = engine!.stats();
      const tokens = after.decodeTokens - before.decodeTokens;
      rows.push(generationRow(subject, batch, tokens, after.decodeSeconds - before.decodeSeconds));
    }
    for (const tokens of prompts)
      for (const sequences of subject.promptSequences) {
        const prefill = () => Promise.all(Array.from({ length: sequences }, () => generate(1, 1, tokens)));
        await prefill();
        const before = engine!.stats();
        await prefill();
        const seconds = engine!.stats().prefillSeconds - before.prefillSeconds;
        rows.push(prefillRow(subject, tokens, sequences, seconds));
      }
    return rows;
  } finally {
    await generations.close();
  }
}

/** Every token is multiplied by all weights of the layers and attends, on average, to half of the prompt. */
function prefillRow(
  { shape, network: n, peak }: Subject,
  length: number,
  sequences: number,
  seconds: number,
): BenchRow {
  const perToken = 2 * n.layers * n.layerMatrices + 2 * n.attentionLayers * n.qWidth * length;
  const tokens = sequences * length;
  const row = rowOf(shape, "prefill", length, tokens, seconds, tokens * perToken, peak.flops);
  return { ...row, sequences };
}

/** Measures decoding. Floor: each step reads all weights once, and the keys and values of every sequence. */
function generationRow(subject: Subject, batch: number, tokens: number, seconds: number): BenchRow {
  const { shape, network: n, outputTokens, device, peak } = subject;
  const element = bytesOf(subject);
  const head = n.embedding * (device === "cuda" && n.tiedHead ? 2 : 4);
  const context = PROMPT_TOKENS + outputTokens / 2;
  const perSequence = context * n.cacheWidth * element;
  const bytes = (tokens / batch) * (n.layers * n.layerMatrices * element + head + batch * perSequence);
  return rowOf(shape, "generation", batch, tokens, seconds, bytes, peak.bandwidth);
}

const SUPERVISED: StepOptions = {
  objective: "supervised",
  sequenceWeight: "uniform",
  clipLow: 3e-3,
  clipHigh: 4e-3,
  klCoef: 0,
  entropyCoef: 0,
  temperature: 1,
  lr: 1e-6,
  muonLr: 0,
};

async function benchTraining(
  trainer: TrainerFace,
  packedTokens: number,
  what: "training" | "lora",
  { shape, network: n, sequenceTokens, peak }: Subject,
): Promise<BenchRow> {
  const sequences = Math.max(1, Math.floor(packedTokens / sequenceTokens));
  const length = Math.min(sequenceTokens, packedTokens);
  const tokens = sequences * length;
  const batch = {
    tokens: Int32Array.from({ length: tokens }, (_, i) => (i * 7919) % n.vocabulary),
    cuSeqlens: Int32Array.from({ length: sequences + 1 }, (_, i) => i * length),
    mask: Uint8Array.from({ length: tokens }, (_, i) => (i % length === 0 ? 0 : 1)),
  };
  await trainer.step(batch, SUPERVISED);
  const report = await trainer.step(batch, SUPERVISED);
  const seconds = report.forwardSeconds + report.backwardSeconds + report.optimizerSeconds;
  // forward 2 FLOP per weight and token, backward 4, or 2 for a frozen weight; attention over half the
  // sequence on average
  const perWeight = what === "lora" ? 4 : 6;
  const perToken =
    perWeight * (n.layers * n.layerMatrices + n.embedding) + 6 * n.attentionLayers * n.qWidth * length;
  return rowOf(shape, what, tokens, tokens, seconds, tokens * perToken, peak.flops);
}

function rowOf(
  shape: string,
  what: BenchRow["what"],
  size: number,
  tokens: number,
  seconds: number,
  work: number,
  peak: number | undefined,
): BenchRow {
  const rate = work / seconds;
  return {
    shape,
    what,
    size,
    tokensPerSecond: tokens / seconds,
    rate,
    unit: what === "generation" ? "B/s" : "FLOP/s",
    ...(peak !== undefined && { ofFloor: rate / peak }),
  };
}

function sizeText({ what, size, sequences = 1 }: BenchRow): string {
  if (what === "generation") return "";
  if (what !== "prefill") return `${size.toLocaleString("en")} packed`;
  return `${sequences > 1 ? `${sequences} × ` : ""}${size.toLocaleString("en")} tokens`;
}

/**
 * Formats a table with one row per measurement: its size, tokens and bytes or operations per second, and the fraction
 * of the floor; then a line with the peak memory of this process, without a GPU's.
 */
export function benchText(rows: readonly (BenchRow | BenchGap)[], device: string, peakBytes: number): string {
  const table = rows.map((row) =>
    "problem" in row
      ? [row.shape, row.what, "", "", "", row.problem]
      : [
          row.shape,
          row.what === "generation" ? `generation, batch ${row.size}` : row.what,
          sizeText(row),
          Math.round(row.tokensPerSecond).toLocaleString("en"),
          row.unit === "B/s"
            ? `${(row.rate / 1e9).toFixed(1)} GB/s`
            : `${(row.rate / 1e12).toFixed(3)} TFLOP/s`,
          row.ofFloor === undefined ? "" : `${(100 * row.ofFloor).toFixed(1)} %`,
        ],
  );
  const head = ["shape", "what", "", "tokens/s", "rate", "of the floor"];
  const widths = head.map((_, i) =>
    Math.max(...[head, ...table].map((cells) => (i < 5 ? cells[i]!.length : 0))),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 3 || i === 4 ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join("  ")
      .trimEnd();
  const memory = `peak memory of the process: ${(peakBytes / 2 ** 30).toFixed(2)} GiB`;
  return [`device: ${device}`, line(head), ...table.map(line), memory].join("\n");
}
