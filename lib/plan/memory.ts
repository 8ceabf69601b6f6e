import { type Recipe, type Roles, rolesOf } from "../config/index.ts";
import type { DeviceName } from "../device.ts";
import { type Advice, advise } from "./advice.ts";
import { configOf, type PlannedModel, type Sizes, sizesOf } from "./buffers.ts";
import { type Choice, choiceFor, placed } from "./choices.ts";
import { fits, hostOf, type Measured, mostOf, type RolePlan } from "./measured.ts";
import { networkOf } from "./network.ts";
import {
  cpuActor,
  cpuRows,
  cpuTrainerAlone,
  dividesWeights,
  EVALUATION,
  evaluationRow,
  gpuActor,
  gpuTrainer,
  gradientRow,
  hostMoments,
  KEY_VALUES,
  type MemoryRow,
  saidRow,
  stagedRow,
} from "./rows.ts";

export interface MemoryPlan extends Measured {
  /**
   * The changes that a run makes by itself, if the unchanged recipe does not fit: all other fields are for the
   * changed recipe, and `without` has the bytes that the unchanged one would need, and the fullest device or its host
   * has. Absent if the recipe fits, or no such change suffices.
   */
  readonly chosen?: Pick<Choice, "changes" | "recipe"> & {
    readonly without: { readonly needs: number; readonly has: number };
  };
  /** Changes that would make the recipe fit; absent if it fits. */
  readonly advice?: Advice;
  /** Activations that `hardware.recompute` does without, or would: bytes on each device that trains. */
  readonly recomputeSaves: number;
}

export interface Machine {
  /** Bytes of memory and threads of this machine, for a recipe that runs on its CPU. */
  readonly memory: number;
  readonly threads: number;
  /** This machine's first GPU, for a recipe on "cuda" that specifies none; `memory` in bytes. */
  readonly gpu?: { readonly name: string; readonly memory: number };
}

const MIB = 2 ** 20;
/** Allowances: memory of CUDA's context and libraries before the first tensor, and NCCL's buffers per communicator. */
const CUDA_CONTEXT = 1024 * MIB;
const NCCL_CHANNELS = 256 * MIB;
/** Weights on their way to an actor's host memory pass through its GPU in buckets of this size. */
const BUCKET = 64 * MIB;

/**
 * Memory by class of tensor for a recipe, from its sizes alone: the core computes its allocations. On the CPU one
 * process has both roles; on GPUs bf16 weights, activations and keys and values, f32 master weights, gradients and
 * moments, trainer state sharded over the trainer's GPUs (ZeRO 3). A recipe that does not fit is planned with the
 * changes that a run makes by itself, or gets the cheapest changes that make it fit.
 * @param model its config.json, and its teacher's
 * @param gpuMemory bytes of a GPU, overriding recipe and machine; plans for a GPU regardless of the recipe's device
 */
export function planMemory(
  recipe: Recipe,
  model: PlannedModel,
  machine: Machine,
  gpuMemory?: number,
): MemoryPlan {
  const measure = (changed: Recipe) => measureMemory(changed, model, machine, gpuMemory);
  const plan = measure(recipe);
  const saves = { recomputeSaves: recomputeSaves(recipe, model, plan.device === CPU ? "cpu" : "cuda") };
  if (fits(plan)) return { ...plan, ...saves };
  const choice = choiceFor(recipe, measure);
  if (choice === undefined) return { ...plan, ...saves, advice: advise(recipe, measure) };
  const { measured, ...chosen } = choice;
  return { ...measured, ...saves, chosen: { ...chosen, without: overflowOf(plan) } };
}

/** The excess of a plan that does not fit. */
function overflowOf(plan: Measured): { readonly needs: number; readonly has: number } {
  const { capacity, hostCapacity } = plan;
  return capacity === undefined || mostOf(plan) <= capacity
    ? { needs: hostOf(plan), has: hostCapacity! }
    : { needs: mostOf(plan), has: capacity };
}

/** The recipe with the memory choices of a run on this machine: unchanged, or with the changes that the run makes by itself. */
export const placedOn = (recipe: Recipe, model: PlannedModel, machine: Machine): Recipe =>
  placed(recipe, (changed) => measureMemory(changed, model, machine));

const CPU = "CPU";

/** The memory plan without proposals. */
export function measureMemory(
  recipe: Recipe,
  model: PlannedModel,
  machine: Machine,
  gpuMemory?: number,
): Measured {
  const network = networkOf(configOf(model));
  if (gpuMemory !== undefined || recipe.device !== "cpu")
    return measuredGpus(recipe, model, gpuOf(recipe, machine, gpuMemory));
  const base = { network, device: CPU, capacity: machine.memory, hostRows: [] };
  const asked = rolesOf(recipe);
  if (asked !== undefined) return { ...base, ...measuredProcesses(recipe, model, machine, asked) };
  const sizes = sizesOf(recipe, model, "cpu", machine.threads, 1);
  const about = { recipe, sizes, capacity: machine.memory };
  return { ...base, roles: [rolePlan("actor and trainer", 1, cpuRows(recipe, sizes), about)] };
}

/** Processes on the CPU share the memory of their machine; each machine has its part of both roles. */
function measuredProcesses(
  recipe: Recipe,
  model: PlannedModel,
  machine: Machine,
  { actors, trainers }: Roles,
): Pick<Measured, "roles" | "together"> {
  const { nodes = 1 } = recipe.hardware ?? {};
  const here = (count: number) => Math.ceil(count / nodes);
  const threads = Math.max(1, Math.floor(machine.threads / here(actors + trainers)));
  const ranks = Math.max(1, trainers);
  const divided = sizesOf(recipe, model, "cpu", threads, ranks);
  const training = trainers > 0 ? ("trainer" as const) : ("coordinator" as const);
  const trains = { recipe, sizes: divided, capacity: machine.memory };
  const trainer = rolePlan(training, ranks, cpuTrainerAlone(recipe, divided, ranks), trains);
  const taken = here(trainer.devices) * trainer.total;
  const sizes = sizesOf(recipe, model, "cpu", threads);
  const left = { recipe, sizes, capacity: Math.max(0, machine.memory - taken) / here(actors) };
  const actor = rolePlan("actor", actors, cpuActor(recipe, sizes), left);
  return { roles: [actor, trainer], together: { nodes, total: here(actors) * actor.total + taken } };
}

interface Gpu {
  readonly name: string;
  readonly memory?: number;
  /** Memory of the GPU's host, if that is this machine. */
  readonly hostMemory?: number;
}

function measuredGpus(recipe: Recipe, model: PlannedModel, gpu: Gpu): Measured {
  const network = networkOf(configOf(model));
  const { gpus = 1 } = recipe.hardware ?? {};
  const asked = rolesOf({ ...recipe, device: "cuda" });
  const ranks = asked?.trainers ?? gpus;
  const sizes = sizesOf(recipe, model, "cuda", 1);
  const divided = sizesOf(recipe, model, "cuda", 1, ranks);
  const about = { recipe, sizes, capacity: gpu.memory };
  const actor = gpuActor(sizes);
  const trainer = gpuTrainer(recipe, divided, ranks);
  const several = gpus > 1 || asked !== undefined;
  const everywhere = [
    { name: "rotary table", bytes: sizes.ropeTables },
    { name: "NCCL: a bucket of weights, channels", bytes: several ? BUCKET + NCCL_CHANNELS : 0 },
    { name: "CUDA context and libraries (allowance)", bytes: CUDA_CONTEXT },
  ];
  const both = [...trainer, ...actor, evaluationRow(recipe, sizes), ...everywhere];
  const roles =
    asked === undefined
      ? [rolePlan("actor and trainer", gpus, both, about)]
      : [
          rolePlan("actor", asked.actors, [...actor, ...everywhere], about),
          rolePlan("trainer", Math.max(1, ranks), [...trainer, sentRow(recipe, sizes), ...everywhere], about),
        ];
  const capacity = gpu.memory !== undefined && { capacity: gpu.memory };
  // Trainers with sharded weights hold all of them while they publish or save.
  const onHost = recipe.lora !== undefined || dividesWeights(recipe);
  const base = {
    name: recipe.lora === undefined ? "master weights, f32, while they are published" : "frozen base, f32",
    bytes: onHost ? network.parameters * 4 : 0,
  };
  const arriving = {
    name: "weights as they arrive at an actor, page-locked",
    bytes: asked === undefined ? 0 : sizes.snapshot,
  };
  const kept = [
    arriving,
    hostMoments(recipe, sizes),
    gradientRow(recipe, sizes),
    stagedRow(recipe, sizes),
    saidRow(sizes),
  ];
  const hostRows = [base, ...kept].filter(({ bytes }) => bytes > 0);
  const host = gpu.hostMemory !== undefined && { hostCapacity: gpu.hostMemory };
  return { network, device: gpu.name, ...capacity, roles, hostRows, ...host };
}

/** If trainers shard the weights, one per machine packs all of them for the actors. @param sizes unsharded */
const sentRow = (recipe: Recipe, { snapshot }: Sizes): MemoryRow => ({
  name: "weights, bf16, whole, at a rank that sends them",
  bytes: dividesWeights(recipe) ? snapshot : 0,
});

function recomputeSaves(recipe: Recipe, model: PlannedModel, device: DeviceName): number {
  const [kept, again] = [false, true].map((recompute) => {
    const hardware = { gpus: 1, ...recipe.hardware, recompute };
    return sizesOf({ ...recipe, hardware }, model, device, 1).activations;
  });
  return kept! - again!;
}

/** Chooses the GPU: the requested one, else the recipe's, else this machine's. */
function gpuOf(
  { hardware: { gpu, gpuMemoryGiB } = { gpus: 1, recompute: false } }: Recipe,
  machine: Machine,
  asked?: number,
): Gpu {
  const said = asked ?? (gpuMemoryGiB === undefined ? undefined : gpuMemoryGiB * 2 ** 30);
  if (said !== undefined) return { name: gpu ?? "GPU", memory: said };
  const { name, memory } = machine.gpu ?? { name: "GPU" };
  const here = memory !== undefined && { memory, hostMemory: machine.memory };
  return { name: gpu ?? name, ...here };
}

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
  // A background evaluation has a separate engine with as many pages.
  const engines = rows.some(({ name }) => name === EVALUATION) ? 2 : 1;
  const others = total - engines * (keyValues ?? 0);
  const room = capacity !== undefined && Math.max(0, capacity - others) / (engines * sizes.page);
  const fit = room !== false && Math.floor(room) * page;
  const asked = { asked: recipe.engine.pages * page, ...(fit !== false && { fit }) };
  return {
    role,
    devices,
    rows,
    total,
    keyValueTokens: keyValues === undefined ? { asked: 0, fit: 0 } : asked,
  };
}
