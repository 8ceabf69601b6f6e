import type { Recipe } from "../config/index.ts";
import {
  type ActivationPlan,
  engineScratchBytes,
  headScratchBytes,
  keptActivationBytes,
  keyValueBytesPerToken,
  ropeTableBytes,
  trainingScratchBytes,
} from "./buffers.ts";
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
 * Memory by class of tensor for a recipe, from its sizes alone.
 * On the CPU as the core allocates it (one process plays both roles); on GPUs bf16 weights, activations and keys and
 * values, f32 master weights, gradients and moments, trainer state cut into shards over the trainer's GPUs (ZeRO 3).
 * @param config text of the model's config.json.
 * @param gpuMemory bytes of a GPU, instead of what recipe or machine say; plans for a GPU whatever the recipe's device is.
 */
export function planMemory(recipe: Recipe, config: string, machine: Machine, gpuMemory?: number): MemoryPlan {
  const network = networkOf(config);
  const { hardware, device } = recipe;
  if (gpuMemory === undefined && device === "cpu") {
    const rows = [...cpuTrainer(recipe, network), ...cpuActor(recipe, network, machine.threads)];
    const capacity = machine.memory;
    const element = storageBytes(recipe);
    const role = rolePlan("actor and trainer", 1, rows, { recipe, network, capacity, element });
    return { network, device: "CPU", capacity, roles: [role] };
  }
  const { gpus, actorGpus } = hardware ?? { gpus: 1 };
  const gpu = gpuOf(recipe, machine, gpuMemory);
  const about = { recipe, network, capacity: gpu.memory, element: BF16 } as const;
  const actor = gpuActor(recipe, network);
  const trainers = gpus - (actorGpus ?? 0);
  const trainer = gpuTrainer(recipe, network, trainers);
  const context = { name: "CUDA context and libraries (allowance)", bytes: CUDA_CONTEXT };
  const nccl = { name: "NCCL: weight buckets, channels", bytes: gpus > 1 ? 2 * BUCKET + NCCL_CHANNELS : 0 };
  const roles =
    actorGpus === undefined
      ? [rolePlan("actor and trainer", gpus, [...trainer, ...actor, nccl, context], about)]
      : [
          rolePlan("actor", actorGpus, [...actor, nccl, context], about),
          rolePlan("trainer", trainers, [...trainer, nccl, context], about),
        ];
  return { network, device: gpu.name, ...(gpu.memory !== undefined && { capacity: gpu.memory }), roles };
}

/** What was asked for comes before what the recipe names, and that before what this machine has. */
function gpuOf({ hardware }: Recipe, machine: Machine, asked?: number): { name: string; memory?: number } {
  if (hardware !== undefined) {
    return { name: hardware.gpu, memory: asked ?? hardware.gpuMemoryGiB * 2 ** 30 };
  }
  return asked === undefined ? (machine.gpu ?? { name: "GPU" }) : { name: "GPU", memory: asked };
}

const KEY_VALUES = "keys and values";

interface About {
  readonly recipe: Recipe;
  readonly network: Network;
  readonly capacity: number | undefined;
  readonly element: 2 | 4;
}

function rolePlan(
  role: RolePlan["role"],
  devices: number,
  all: readonly MemoryRow[],
  { recipe, network, capacity, element }: About,
): RolePlan {
  const rows = all.filter(({ bytes }) => bytes > 0);
  const total = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  const keyValues = rows.find(({ name }) => name === KEY_VALUES)?.bytes;
  const page = recipe.engine.pageTokens;
  const others = total - (keyValues ?? 0);
  const pageBytes = keyValueBytesPerToken(network, element) * page;
  const fit = capacity !== undefined && Math.floor(Math.max(0, capacity - others) / pageBytes) * page;
  const asked = { asked: recipe.engine.pages * page, ...(fit !== false && { fit }) };
  return {
    role,
    devices,
    rows,
    total,
    keyValueTokens: keyValues === undefined ? { asked: 0, fit: 0 } : asked,
  };
}

/** Of weights and of keys and values on the CPU. */
function storageBytes({ model }: Recipe): 2 | 4 {
  return model.weightStorage === "bf16" ? BF16 : F32;
}

/** Weights as the kernels read them. On the CPU the head is always a matrix of its own, in f32. */
function cpuSnapshotBytes(recipe: Recipe, n: Network): number {
  const matrices = n.layers * n.layerMatrices * storageBytes(recipe);
  return matrices + (n.vectors + 2 * n.embedding) * F32;
}

function cpuTrainer(recipe: Recipe, n: Network): MemoryRow[] {
  const { packedTokens: tokens } = recipe.training;
  const activations: ActivationPlan = { tokens, element: F32, recompute: false };
  const storage = storageBytes(recipe);
  const copies = recipe.objective.klCoef > 0 ? 2 : 1; // a reference policy is a trainer of its own
  return [
    { name: "master weights, f32", bytes: copies * n.parameters * F32 },
    { name: "gradients, f32", bytes: copies * n.parameters * F32 },
    { name: "optimizer moments, f32", bytes: copies * 2 * n.parameters * F32 },
    {
      name: "weights, trainer",
      bytes: copies * cpuSnapshotBytes(recipe, n),
      change: 'model.weightStorage: "bf16"',
    },
    {
      name: "weights, transposed for gradients",
      bytes: n.layers * n.layerMatrices * storage + n.embedding * F32,
      change: 'model.weightStorage: "bf16"',
    },
    { name: "activations", bytes: keptActivationBytes(n, activations), change: "training.packedTokens" },
    {
      name: "training scratch",
      bytes: trainingScratchBytes(n, activations),
      change: "training.packedTokens",
    },
    { name: "logits of a chunk", bytes: headScratchBytes(n, tokens) },
    { name: "rotary table", bytes: ropeTableBytes(n) },
  ];
}

function cpuActor(recipe: Recipe, n: Network, threads: number): MemoryRow[] {
  const { engine } = recipe;
  const rows = Math.max(engine.stepTokens, engine.maxRunning + 1);
  return [
    { name: "weights, engine", bytes: cpuSnapshotBytes(recipe, n), change: 'model.weightStorage: "bf16"' },
    keyValues(recipe, n, storageBytes(recipe)),
    { name: "engine scratch", bytes: engineScratchBytes(n, rows, threads, F32), change: "engine.stepTokens" },
  ];
}

function keyValues({ engine }: Recipe, n: Network, element: 2 | 4): MemoryRow {
  const bytes = engine.pages * engine.pageTokens * keyValueBytesPerToken(n, element);
  return { name: KEY_VALUES, bytes, change: "engine.pages (or engine.maxRunning)" };
}

/** The head's own matrix, which computes in f32; a tied one is read from the embedding in bf16. */
const headBytes = (n: Network) => (n.tiedHead ? 0 : n.embedding * F32);
const bodyBytes = (n: Network) => (n.layers * n.layerMatrices + n.embedding) * BF16 + n.vectors * F32;

function gpuActor(recipe: Recipe, n: Network): MemoryRow[] {
  const { engine } = recipe;
  const rows = Math.max(engine.stepTokens, engine.maxRunning + 1);
  return [
    { name: "weights, bf16, engine", bytes: bodyBytes(n), change: "a smaller model" },
    { name: "head, f32, engine", bytes: headBytes(n) },
    keyValues(recipe, n, BF16),
    { name: "engine scratch", bytes: engineScratchBytes(n, rows, 0, BF16), change: "engine.stepTokens" },
    { name: "rotary table", bytes: ropeTableBytes(n) },
  ];
}

function gpuTrainer(recipe: Recipe, n: Network, shards: number): MemoryRow[] {
  const { recompute = false } = recipe.hardware ?? {};
  const { packedTokens: tokens } = recipe.training;
  const activations: ActivationPlan = { tokens, element: BF16, recompute };
  const more = "hardware.gpus (more trainer GPUs, smaller shards)";
  const less = `training.packedTokens${recompute ? "" : ", hardware.recompute"}`;
  // Whole while they are in use: this layer's weights and the next's, and one layer's gradient before it is scattered.
  const layer = n.layerMatrices * (2 * BF16 + F32);
  const ends = n.embedding * (BF16 + F32) + (n.tiedHead ? 0 : n.embedding * 2 * F32);
  const reference = recipe.objective.klCoef > 0 ? (bodyBytes(n) + headBytes(n)) / shards : 0;
  return [
    { name: "master weights, f32", bytes: (n.parameters * F32) / shards, change: more },
    { name: "gradients, f32", bytes: (n.parameters * F32) / shards, change: more },
    { name: "optimizer moments, f32", bytes: (2 * n.parameters * F32) / shards, change: more },
    { name: "weights, bf16, trainer", bytes: bodyBytes(n) / shards, change: more },
    { name: "head, f32, trainer", bytes: headBytes(n) / shards, change: more },
    { name: "reference policy, bf16", bytes: reference, change: "objective.klCoef: 0" },
    { name: "gathered layers and head", bytes: shards > 1 ? layer + ends : 0 },
    { name: "activations", bytes: keptActivationBytes(n, activations), change: less },
    { name: "training scratch", bytes: trainingScratchBytes(n, activations), change: less },
    { name: "logits of a chunk", bytes: headScratchBytes(n, tokens) },
  ];
}
