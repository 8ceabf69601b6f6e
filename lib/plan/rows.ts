import { type Recipe, shardingOf } from "../config/index.ts";
import { type Sizes, scorerBytes } from "./buffers.ts";

/** One class of tensors on one device. */
export interface MemoryRow {
  readonly name: string;
  readonly bytes: number;
  /** Field of the recipe that would reduce this memory. */
  readonly change?: string;
}

export const KEY_VALUES = "keys and values";
export const EVALUATION = "an evaluation beside training";
const GRADIENTS = "gradients of domains against each other";
const ADAPTERS = "adapters, and the matrix they change";
const FIRST_PACKING = "an embedding in f32, while the base is packed for the first time";

/** A warm start comes before training, and keeps its moments in f32. */
const momentsName = ({ warmStart, optimizer }: Recipe) =>
  `optimizer moments, ${warmStart === undefined ? optimizer.moments : "f32"}`;

/** Memory of a trainer and an engine in one process on the CPU. */
export function cpuRows(recipe: Recipe, sizes: Sizes): MemoryRow[] {
  const storage = 'model.weightStorage: "bf16"';
  return [
    ...cpuTrainer(recipe, sizes),
    {
      name: "weights, engine",
      // With adapters the engine and the trainer share embedding and head, which no adapter changes.
      bytes: sizes.snapshot - (recipe.lora ? sizes.ends : 0),
      change: storage,
    },
    ...engineRows(sizes),
    evaluationRow(recipe, sizes),
    gradientRow(recipe, sizes),
    stagedRow(recipe, sizes),
  ];
}

/**
 * Memory of a process that only samples on the CPU: it receives packed weights in addition to those in use. With
 * adapters it forms them from the base; two versions share what no adapter changes, and engines share the base.
 */
export function cpuActor({ evaluation, lora }: Recipe, sizes: Sizes): MemoryRow[] {
  const { snapshot, ends, parameters, adapters, keyValues, evaluationScratch, ropeTables } = sizes;
  const storage = 'model.weightStorage: "bf16"';
  return [
    { name: "weights, engine", bytes: snapshot, change: storage },
    { name: "weights as they arrive", bytes: snapshot - (lora ? ends : 0), change: storage },
    { name: `frozen base, ${sizes.base}`, bytes: lora ? parameters : 0 },
    { name: ADAPTERS, bytes: adapters },
    ...engineRows(sizes),
    { name: "rotary table", bytes: ropeTables },
    {
      name: EVALUATION,
      bytes: evaluation.everySteps > 0 ? snapshot + adapters + keyValues + evaluationScratch : 0,
      change: "evaluation.everySteps: 0",
    },
  ];
}

/**
 * Memory of each of `ranks` processes that only train on the CPU; with several ranks that of the first, which
 * keeps gradients of domains for all.
 */
export function cpuTrainerAlone(recipe: Recipe, sizes: Sizes, ranks: number): MemoryRow[] {
  const { parameters, moments, adapters, snapshot, firstPacking } = sizes;
  const loaded = parameters + moments + adapters + snapshot + firstPacking;
  return [
    ...cpuTrainer(recipe, sizes),
    {
      name: EVALUATION,
      bytes: recipe.evaluation.everySteps > 0 ? loaded : 0,
      change: "evaluation.everySteps: 0",
    },
    gradientRow(recipe, sizes),
    stagedRow(recipe, sizes, ranks),
  ];
}

function cpuTrainer(recipe: Recipe, sizes: Sizes): MemoryRow[] {
  const { parameters, trained, adapters } = sizes;
  // A reference policy is a separate trainer that only scores: no gradients, no moments, no transposed weights.
  const copies = recipe.objective.klCoef > 0 ? 2 : 1;
  const storage = 'model.weightStorage: "bf16"';
  const tokens = "training.packedTokens";
  return [
    { name: recipe.lora ? `frozen base, ${sizes.base}` : "master weights, f32", bytes: copies * parameters },
    { name: "gradients, f32", bytes: trained, change: "lora" },
    { name: momentsName(recipe), bytes: sizes.moments, change: "lora" },
    { name: ADAPTERS, bytes: copies * adapters },
    { name: "weights, trainer", bytes: copies * sizes.snapshot, change: storage },
    { name: "activations", bytes: copies * sizes.activations, change: tokens },
    { name: "training scratch", bytes: copies * sizes.trainingScratch, change: tokens },
    { name: "logits of a chunk", bytes: copies * sizes.logits },
    { name: "arrays of a micro-batch, optimizer scratch", bytes: copies * sizes.arrays, change: tokens },
    { name: "rotary table", bytes: copies * sizes.ropeTables },
    teacherRow(sizes),
    distributionsRow(sizes),
  ];
}

const distributionsRow = ({ distributions }: Sizes): MemoryRow => ({
  name: "distributions of the reference",
  bytes: distributions,
  change: 'objective.klTopK, or objective.klEstimator: "k2"',
});

/** Host memory of a GPU's trainer for the inputs of whole distributions; on the CPU `distributionsRow` has it. */
export const saidRow = ({ said }: Sizes): MemoryRow => ({
  name: "what teacher and reference say of a step",
  bytes: said,
  change: "teacher.divergence.topK, objective.klTopK",
});

const teacherRow = ({ teacher }: Sizes): MemoryRow => ({
  name: "teacher, a trainer that only scores",
  bytes: teacher,
  change: "teacher.folder (a smaller one)",
});

function engineRows({ keyValues, engineScratch }: Sizes): MemoryRow[] {
  return [
    { name: KEY_VALUES, bytes: keyValues, change: "engine.pages (or engine.maxRunning)" },
    { name: "engine scratch", bytes: engineScratch, change: "engine.stepTokens" },
  ];
}

/** A background evaluation loads the checkpoint into a trainer that makes no step, and pins it on a separate engine. */
export function evaluationRow({ evaluation }: Recipe, sizes: Sizes): MemoryRow {
  const { parameters, moments, adapters, snapshot, keyValues, evaluationScratch, firstPacking } = sizes;
  const trainer = parameters + moments + adapters + snapshot + firstPacking;
  return {
    name: EVALUATION,
    bytes: evaluation.everySteps > 0 ? trainer + snapshot + keyValues + evaluationScratch : 0,
    change: "evaluation.everySteps: 0",
  };
}

/** The gradients of all parts but one are kept on the host, on every device (csrc/trainer/gradient_parts.h). */
export function gradientRow({ metrics, domains, training }: Recipe, sizes: Sizes): MemoryRow {
  const { everySteps, noiseScale } = metrics.gradients;
  const trained = Object.values(domains).filter(({ weight }) => weight > 0).length;
  const parts = Math.min(trained, training.groupsPerStep) * (noiseScale ? 2 : 1);
  return {
    name: GRADIENTS,
    bytes: everySteps > 0 ? (parts - 1) * sizes.trained : 0,
    change: `metrics.gradients.${noiseScale ? "noiseScale: false" : "everySteps: 0"}`,
  };
}

/**
 * The checkpoint copy that is written during training: weights and both moments, in host memory; one copy over all
 * ranks together.
 * @param ranks that each hold a part of the weights; `sizes` has one rank's part of the other state
 */
export function stagedRow({ checkpoint, lora, hardware }: Recipe, sizes: Sizes, ranks = 1): MemoryRow {
  const weights = lora ? sizes.trained : sizes.parameters;
  const own = hardware?.sharding?.stage === "parameters" ? weights : Math.ceil(weights / ranks);
  const state = own + sizes.moments + sizes.hostMoments;
  return {
    name: "a checkpoint on its way",
    bytes: checkpoint.async ? state : 0,
    change: "checkpoint.async: false",
  };
}

/** Memory of an engine on a GPU. */
export function gpuActor(sizes: Sizes): MemoryRow[] {
  return [
    { name: "weights, bf16, engine", bytes: sizes.snapshot - sizes.head, change: "a smaller model" },
    { name: "head, f32, engine", bytes: sizes.head },
    ...engineRows(sizes),
  ];
}

/** Moments that stream through the GPU from host memory; a background evaluation also loads those of its checkpoint. */
export function hostMoments(recipe: Recipe, { hostMoments: moments }: Sizes): MemoryRow {
  const name = `${momentsName(recipe)}, page-locked`;
  return { name, bytes: moments * (recipe.evaluation.everySteps > 0 ? 2 : 1), change: "lora" };
}

/** True if each of several trainers keeps only its part of the weights. */
export const dividesWeights = (recipe: Recipe) => shardingOf(recipe)?.stage === "parameters";

/** Memory of a trainer on each of `ranks` GPUs. @param sizes those of the first rank */
export function gpuTrainer(recipe: Recipe, sizes: Sizes, ranks: number): MemoryRow[] {
  const { recompute = false } = recipe.hardware ?? {};
  const { parameters, trained, adapters, snapshot, head } = sizes;
  const divide = 'hardware.sharding.stage: "parameters", hardware.gpus (more trainer GPUs, smaller shards)';
  const more =
    [...(recipe.lora ? [] : ["lora"]), ...(ranks > 1 ? [divide] : [])].join(", ") || "a smaller model";
  const toHost = 'hardware.optimizerMemory: "host", ';
  const less = `training.packedTokens${recompute ? "" : ", hardware.recompute: true"}`;
  // With sharded weights the GPU holds the buffer that gathers a layer; the rest is in host memory.
  const masters = dividesWeights(recipe) ? "a layer's weights, f32, being gathered" : "master weights, f32";
  const reference = recipe.objective.klCoef === 0 ? 0 : scorerBytes(sizes);
  return [
    { name: masters, bytes: parameters, change: more },
    { name: "gradients, f32", bytes: trained, change: more },
    { name: momentsName(recipe), bytes: sizes.moments, change: `${toHost}${more}` },
    { name: ADAPTERS, bytes: adapters },
    { name: "weights, bf16, trainer", bytes: snapshot - head, change: more },
    { name: "head, f32, trainer", bytes: head, change: more },
    {
      name: "reference policy, a trainer that only scores",
      bytes: reference,
      change: "objective.klCoef: 0",
    },
    teacherRow(sizes),
    distributionsRow(sizes),
    { name: "activations", bytes: sizes.activations, change: less },
    { name: "training scratch", bytes: sizes.trainingScratch, change: less },
    { name: "logits of a chunk", bytes: sizes.logits },
    { name: "arrays of a micro-batch, optimizer scratch", bytes: sizes.arrays, change: less },
    firstPackingRow(sizes),
  ];
}

/**
 * With adapters the base is copied from host memory in f32, one matrix at a time, and an embedding is larger than the
 * scratch for that. Memory that only the first step takes is allocated later, so only the excess over it counts.
 */
function firstPackingRow(sizes: Sizes): MemoryRow {
  const { trained, moments, activations, trainingScratch, logits, arrays, firstPacking } = sizes;
  const later = trained + moments + activations + trainingScratch + logits + arrays;
  return { name: FIRST_PACKING, bytes: Math.max(0, firstPacking - later) };
}
