import { availableParallelism, totalmem } from "node:os";
import type { Recipe } from "../../config/index.ts";
import type { NativeInfo } from "../../native/face.ts";
import {
  expectFit,
  type Machine,
  type MemoryPlan,
  type PlannedModel,
  placedOn,
  planMemory,
} from "../../plan/index.ts";

// Decides, together with hardware.ts, whether this version can run a recipe on this machine. `hone check` reports it;
// `hone run` refuses before an earlier run is replaced or anything large is allocated.

/** Machine for a memory plan: this machine's memory and threads, and the first of its GPUs, if `cuda` is given. */
export function thisMachine(cuda?: NativeInfo["cuda"]): Machine {
  const machine = { memory: totalmem(), threads: availableParallelism() };
  if (!cuda?.memoryBytes) return machine;
  return { ...machine, gpu: { name: cuda.devices[0]!.replace(/ \(.*/, ""), memory: cuda.memoryBytes } };
}

/** The recipe with the memory choices that a run on this machine makes; they change no result. */
export const placedHere = (recipe: Recipe, model: PlannedModel, { cuda }: NativeInfo): Recipe =>
  placedOn(recipe, model, thisMachine(cuda));

/** The plan of a recipe on this machine. Throws HONE_ERR_OUT_OF_MEMORY for one that does not fit. */
export function expectMemory(recipe: Recipe, model: PlannedModel, { cuda }: NativeInfo): MemoryPlan {
  const plan = planMemory(recipe, model, thisMachine(cuda));
  expectFit(plan);
  return plan;
}
