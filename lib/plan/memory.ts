import type { Recipe } from "../config/index.ts";
import type { DeviceName } from "../device.ts";
import { type Sizes, sizesOf } from "./buffers.ts";
import { type Network, networkOf } from "./network.ts";

/** One class of tensors on one device. */
export interface MemoryRow {
  readonly name: string;
  readonly bytes: number;
  /** What would make it smaller: a field of the recipe. */
  readonly change?: string;
}

/** What one device of a role holds. */
export interface RolePlan {
  readonly role: "actor" | "trainer" | "actor and trainer";
  /** How many such devices there are. */
  readonly devices: number;
  readonly rows: readonly MemoryRow[];
  readonly total: number;
  /**
   * Tokens of keys and values that the recipe asks for, and that fit beside everything else; 0 where none are kept. How
   * many fit is left out where the capacity is not known.
   */
  readonly keyValueTokens: { readonly asked: number; readonly fit?: number };
}

export interface MemoryPlan {
  readonly network: Network;
  /** "CPU", or the GPU as the recipe or its driver calls it. */
  readonly device: string;
  /** Bytes of one device; left out for a GPU that neither the recipe nor this machine knows. */
  readonly capacity?: number;
  readonly roles: readonly RolePlan[];
  /** Activations that `hardware.recompute` does without, or would: bytes on each device that trains. */
  readonly recomputeSaves: number;
}

export interface Machine {
  /** Bytes of memory and threads of this machine, for a recipe that runs on its CPU. */
  readonly memory: number;
  readonly threads: number;
  /** Its first GPU, for a recipe that runs on "cuda" and does not say on which; `memory` in bytes. */
  readonly gpu?: { readonly name: string; readonly memory: number };
}

const F32 = 4;
const BF16 = 2;
const MIB = 2 ** 20;
/** Allowances: what CUDA's context and libraries take before the first tensor, and NCCL's own buffers per communicator. */
const CUDA_CONTEXT = 1024 * MIB;
const NCCL_CHANNELS = 256 * MIB;
/** Weights travel to the actors in buckets of this size, one filling while one is sent. */
const BUCKET = 512 * MIB;

/**
 * Memory by class of tensor for a recipe, from its sizes alone: the core says what it would allocate.
 * On the CPU one process plays both roles; on GPUs bf16 weights, activations and keys and
 * values, f32 master weights, gradients and moments, trainer state cut into shards over the trainer's GPUs (ZeRO 3).
 * @param config text of the model's config.json.
 * @param gpuMemory bytes of a GPU, instead of what recipe or machine say; plans for a GPU whatever the recipe's device is.
 */
export function planMemory(recipe: Recipe, config: string, machine: Machine, gpuMemory?: number): MemoryPlan {
  const network = networkOf(config);
  const { hardware, device } = recipe;
  if (gpuMemory === undefined && device === "cpu") {
    const sizes = sizesOf(recipe, config, "cpu", machine.threads);
    const rows = [...cpuTrainer(recipe, sizes), ...cpuActor(sizes)];
    const capacity = machine.memory;
    const role = rolePlan("actor and trainer", 1, rows, { recipe, sizes, capacity });
    return {
      network,
      device: "CPU",
      capacity,
      roles: [role],
      recomputeSaves: recomputeSaves(recipe, config, "cpu"),
    };
  }
  const { gpus, actorGpus } = hardware ?? { gpus: 1 };
  const gpu = gpuOf(recipe, machine, gpuMemory);
  const sizes = sizesOf(recipe, config, "cuda", 1);
  const about = { recipe, sizes, capacity: gpu.memory };
  const actor = gpuActor(sizes);
  const trainers = gpus - (actorGpus ?? 0);
  const trainer = gpuTrainer(recipe, network, sizes, trainers);
  const rope = { name: "rotary table", bytes: sizes.ropeTables };
  const context = { name: "CUDA context and libraries (allowance)", bytes: CUDA_CONTEXT };
  const nccl = { name: "NCCL: weight buckets, channels", bytes: gpus > 1 ? 2 * BUCKET + NCCL_CHANNELS : 0 };
  const roles =
    actorGpus === undefined
      ? [rolePlan("actor and trainer", gpus, [...trainer, ...actor, rope, nccl, context], about)]
      : [
          rolePlan("actor", actorGpus, [...actor, rope, nccl, context], about),
          rolePlan("trainer", trainers, [...trainer, rope, nccl, context], about),
        ];
  const capacity = gpu.memory !== undefined && { capacity: gpu.memory };
  return {
    network,
    device: gpu.name,
    ...capacity,
    roles,
    recomputeSaves: recomputeSaves(recipe, config, "cuda"),
  };
}

function recomputeSaves(recipe: Recipe, config: string, device: DeviceName): number {
  const [kept, again] = [false, true].map((recompute) => {
    const hardware = { gpu: "", gpuMemoryGiB: 1, gpus: 1, ...recipe.hardware, recompute };
    return sizesOf({ ...recipe, hardware }, config, device, 1).activations;
  });
  return kept! - again!;
}

/** What was asked for comes before what the recipe names, and that before what this machine has. */
function gpuOf({ hardware }: Recipe, machine: Machine, asked?: number): { name: string; memory?: number } {
  if (hardware !== undefined) {
    return { name: hardware.gpu, memory: asked ?? hardware.gpuMemoryGiB * 2 ** 30 };
  }
  return asked === undefined ? (machine.gpu ?? { name: "GPU" }) : { name: "GPU", memory: asked };
}

const KEY_VALUES = "keys and values";
const ADAPTERS = "adapters, and the matrix they change";

interface About {
  readonly recipe: Recipe;
  readonly sizes: Sizes;
  readonly capacity: number | undefined;
}

function rolePlan(
  role: RolePlan["role"],
  devices: number,
  all: readonly MemoryRow[],
  { recipe, sizes, capacity }: About,
): RolePlan {
  const rows = all.filter(({ bytes }) => bytes > 0);
  const total = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  const keyValues = rows.find(({ name }) => name === KEY_VALUES)?.bytes;
  const page = recipe.engine.pageTokens;
  const others = total - (keyValues ?? 0);
  const fit = capacity !== undefined && Math.floor(Math.max(0, capacity - others) / sizes.page) * page;
  const asked = { asked: recipe.engine.pages * page, ...(fit !== false && { fit }) };
  return {
    role,
    devices,
    rows,
    total,
    keyValueTokens: keyValues === undefined ? { asked: 0, fit: 0 } : asked,
  };
}

function cpuTrainer(recipe: Recipe, sizes: Sizes): MemoryRow[] {
  const { parameters, trained, adapters } = sizes;
  // A reference policy is a trainer of its own that only scores: no gradients, no moments, nothing turned round.
  const copies = recipe.objective.klCoef > 0 ? 2 : 1;
  const storage = 'model.weightStorage: "bf16"';
  const tokens = "training.packedTokens";
  return [
    { name: recipe.lora ? "frozen base, f32" : "master weights, f32", bytes: copies * parameters },
    { name: "gradients, f32", bytes: trained, change: "lora" },
    { name: "optimizer moments, f32", bytes: 2 * trained, change: "lora" },
    { name: ADAPTERS, bytes: copies * adapters },
    { name: "weights, trainer", bytes: copies * sizes.snapshot, change: storage },
    { name: "weights, transposed for gradients", bytes: sizes.transposed, change: storage },
    { name: "activations", bytes: copies * sizes.activations, change: tokens },
    { name: "training scratch", bytes: copies * sizes.trainingScratch, change: tokens },
    { name: "logits of a chunk", bytes: copies * sizes.logits },
    { name: "arrays of a micro-batch, optimizer scratch", bytes: copies * sizes.arrays, change: tokens },
    { name: "rotary table", bytes: copies * sizes.ropeTables },
  ];
}

function cpuActor(sizes: Sizes): MemoryRow[] {
  return [
    { name: "weights, engine", bytes: sizes.snapshot, change: 'model.weightStorage: "bf16"' },
    ...engineRows(sizes),
  ];
}

function engineRows({ keyValues, engineScratch }: Sizes): MemoryRow[] {
  return [
    { name: KEY_VALUES, bytes: keyValues, change: "engine.pages (or engine.maxRunning)" },
    { name: "engine scratch", bytes: engineScratch, change: "engine.stepTokens" },
  ];
}

function gpuActor(sizes: Sizes): MemoryRow[] {
  return [
    { name: "weights, bf16, engine", bytes: sizes.snapshot - sizes.head, change: "a smaller model" },
    { name: "head, f32, engine", bytes: sizes.head },
    ...engineRows(sizes),
  ];
}

function gpuTrainer(recipe: Recipe, n: Network, sizes: Sizes, shards: number): MemoryRow[] {
  const { recompute = false } = recipe.hardware ?? {};
  const { parameters, trained, adapters, snapshot, head } = sizes;
  const more = `${recipe.lora ? "" : "lora, "}hardware.gpus (more trainer GPUs, smaller shards)`;
  const less = `training.packedTokens${recompute ? "" : ", hardware.recompute: true"}`;
  // Whole while they are in use: this layer's weights and the next's, and one layer's gradient before it is scattered.
  const layer = n.layerMatrices * (2 * BF16 + F32);
  const ends = n.embedding * (BF16 + F32) + (n.tiedHead ? 0 : n.embedding * 2 * F32);
  const reference = recipe.objective.klCoef > 0 ? snapshot / shards : 0;
  return [
    { name: "master weights, f32", bytes: parameters / shards, change: more },
    { name: "gradients, f32", bytes: trained / shards, change: more },
    { name: "optimizer moments, f32", bytes: (2 * trained) / shards, change: more },
    { name: ADAPTERS, bytes: adapters },
    { name: "weights, bf16, trainer", bytes: (snapshot - head) / shards, change: more },
    { name: "head, f32, trainer", bytes: head / shards, change: more },
    { name: "reference policy, bf16", bytes: reference, change: "objective.klCoef: 0" },
    { name: "gathered layers and head", bytes: shards > 1 ? layer + ends : 0 },
    { name: "activations", bytes: sizes.activations, change: less },
    { name: "training scratch", bytes: sizes.trainingScratch, change: less },
    { name: "logits of a chunk", bytes: sizes.logits },
    { name: "arrays of a micro-batch, optimizer scratch", bytes: sizes.arrays, change: less },
  ];
}
