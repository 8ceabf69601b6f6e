import {
  evaluationContext,
  hasFullKl,
  loraOptions,
  maxContext,
  optimizerMemory,
  type Recipe,
  shardingOf,
  storageOf,
} from "../config/index.ts";
import type { DeviceName } from "../device.ts";
import { modelFacts, NO_OPTIMIZER } from "../inference/index.ts";
import { type MemorySizes, memorySizes } from "../native/index.ts";
import { storedAs } from "../shared/models/weight-types.ts";

/** Text of a model's config.json, and of its teacher's if the recipe has one. */
export type PlannedModel = string | { readonly config: string; readonly teacher?: string | undefined };

export const configOf = (model: PlannedModel): string => (typeof model === "string" ? model : model.config);

export interface Sizes extends MemorySizes {
  /** Memory of a teacher: a trainer that only scores, with its own size. 0 without one. */
  readonly teacher: number;
  /** Whole distributions of the reference, if the KL term compares with them. */
  readonly distributions: number;
  /** Host memory for a step's token scores, if the trainer is on a GPU. */
  readonly said: number;
  /** Scratch of a step of the evaluation's engine: its budget may be larger than training's, or smaller. */
  readonly evaluationScratch: number;
  /** Storage type of a frozen base: bf16 on the CPU if its files have that (csrc/trainer/trainer.cc). */
  readonly base: "f32" | "bf16";
}

/**
 * Cached answers of the core by query: the search for changes that fit repeats queries thousands of times.
 */
const known = new Map<string, MemorySizes>();
const MOST_KNOWN = 10_000;

function knownSizes(...asked: Parameters<typeof memorySizes>): MemorySizes {
  const key = JSON.stringify(asked, (_, value) => (typeof value === "bigint" ? String(value) : value));
  let sizes = known.get(key);
  if (sizes !== undefined) return sizes;
  if (known.size >= MOST_KNOWN) known.clear();
  sizes = memorySizes(...asked);
  known.set(key, sizes);
  return sizes;
}

/**
 * The core's sizes for an engine and a trainer of this recipe on the given kind of device, which need not exist.
 * @param ranks trainers that shard according to the recipe: the trainer's sizes are those of the first, whose packed
 * weights may be smaller than an engine's. Default 0: nothing is sharded
 */
export function sizesOf(
  recipe: Recipe,
  planned: PlannedModel,
  device: DeviceName,
  threads: number,
  ranks = 0,
): Sizes {
  const { training, rollouts } = recipe;
  const weightStorage = storageOf(recipe, configOf(planned));
  const engine = { ...recipe.engine, maxContext: maxContext(recipe), runSeed: 0n, weightStorage, device };
  // A warm start comes before training, and keeps its moments in f32.
  const moments = recipe.warmStart === undefined ? recipe.optimizer.moments : "f32";
  const kind = recipe.warmStart?.optimizer ?? "adamw";
  const optimizer = { ...NO_OPTIMIZER, kind, moments, memory: optimizerMemory(recipe, kind) } as const;
  const recompute = recipe.hardware?.recompute ?? false;
  const sharding = ranks > 0 ? shardingOf(recipe) : undefined;
  // A sequence longer than a micro-batch gets one of its own, divided among the trainers that share it.
  const packedTokens = Math.max(
    training.packedTokens,
    Math.ceil(maxContext(recipe) / (sharding?.sequence ?? 1)),
  );
  const trainer = {
    optimizer,
    packedTokens,
    headRows: training.headRows,
    weightStorage,
    device,
    recompute,
    ...(sharding && { sharding }),
  };
  const sequences = Math.min(training.packedTokens, training.groupsPerStep * rollouts.groupSize);
  const base = recipe.lora !== undefined && device === "cpu" ? baseOf(configOf(planned)) : "f32";
  const core = (maxContext: number, config = configOf(planned), lora = loraOptions(recipe)) =>
    knownSizes(
      config,
      { engine: { ...engine, maxContext }, trainer: { ...trainer, ...lora } },
      { sequences, threads, ranks: Math.max(1, ranks), base: "lora" in lora ? base : "f32" },
    );
  const sizes = core(engine.maxContext);
  const evaluation = evaluationContext(recipe);
  const { engineScratch } = evaluation === engine.maxContext ? sizes : core(evaluation);
  const teacher = typeof planned === "string" ? undefined : planned.teacher;
  const divergence = recipe.teacher?.divergence;
  const compared =
    teacher !== undefined && divergence !== undefined
      ? distributionBytes(recipe, teacher, { topK: divergence.topK, device, packedTokens })
      : NOTHING;
  const { objective } = recipe;
  const reference = hasFullKl(objective)
    ? distributionBytes(recipe, configOf(planned), { topK: objective.klTopK, device, packedTokens })
    : NOTHING;
  return {
    ...sizes,
    base,
    evaluationScratch: engineScratch,
    teacher:
      teacher === undefined ? 0 : scorerBytes(core(engine.maxContext, teacher, {})) + compared.besideWeights,
    distributions: reference.besideWeights,
    said: compared.host + reference.host,
  };
}

/** Dequantized values, products with scales, need not be representable in bf16. */
const baseOf = (config: string) => (config.includes('"quantization_config"') ? "f32" : storedAs(config));

/** Rows of logits that a training head has in memory at a time (csrc/kernels/cpu/lm_head.cc, csrc/kernels/cuda/scratch.h). */
const headRows = (device: DeviceName, vocabulary: number) =>
  device === "cuda" ? 256 : vocabulary < 16 * 1024 ? 64 : 168;

interface Comparing {
  readonly topK?: number | undefined;
  readonly device: DeviceName;
  readonly packedTokens: number;
}

/** Bytes in the trainer's memory, and in host memory if that is separate. */
interface ComparingBytes {
  readonly besideWeights: number;
  readonly host: number;
}
const NOTHING: ComparingBytes = { besideWeights: 0, host: 0 };

/**
 * Memory for comparing whole distributions: the inputs of the other model's head, or its likeliest tokens,
 * for every token of a step (in the step's copy and the trainer's) and of a micro-batch; and that head, with
 * a chunk of logits.
 * @param config of the model to compare with
 */
function distributionBytes(
  { training, rollouts }: Recipe,
  config: string,
  { topK = 0, device, packedTokens }: Comparing,
): ComparingBytes {
  const { width, vocabulary } = modelFacts(config);
  const groups = Math.ceil(training.groupsPerStep / (1 - (training.replayBuffer?.share ?? 0)));
  const tokens = groups * rollouts.groupSize * rollouts.maxOutputTokens;
  const columns = topK > 0 ? 2 * topK : width;
  const onGpu = device === "cuda";
  const logits = headRows(device, vocabulary) * vocabulary * (onGpu && topK === 0 ? 2 : 1); // the logits of the student are counted too
  const rows = packedTokens * columns * (onGpu && topK === 0 ? 2 : 4);
  const used = rows + 4 * (logits + (topK > 0 ? 0 : vocabulary * width));
  const step = 4 * 2 * tokens * columns;
  return onGpu ? { besideWeights: used, host: step } : { besideWeights: used + step, host: 0 };
}

/** Memory of a trainer that only scores: no gradients, no moments, nothing transposed. */
export function scorerBytes(sizes: MemorySizes): number {
  const { parameters, adapters, snapshot, activations, trainingScratch, logits, arrays } = sizes;
  return parameters + adapters + snapshot + activations + trainingScratch + logits + arrays;
}
