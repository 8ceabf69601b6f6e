import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { networkOf } from "../plan/index.ts";
import { fitMachine, gpuMachine, type Machine, type Outcomes, readMachine } from "../simulate/index.ts";
import { recipeConfig } from "./plan.ts";

/** Where the machine comes from; neither: from the recipe's hardware. */
export interface MachineChoice {
  readonly fit?: string;
  readonly machine?: string;
}

/** A machine, and the answers that go with it where they come from a run. */
export interface ChosenMachine {
  readonly machine: Machine;
  readonly outcomes?: Outcomes;
  /** Of the run it was fitted to. */
  readonly measured?: { readonly steps: number; readonly seconds: number };
}

/** Throws HONE_ERR_USAGE for both at once, and what reading or fitting throws. */
export async function chooseMachine(recipe: Recipe, { fit, machine }: MachineChoice): Promise<ChosenMachine> {
  if (fit !== undefined && machine !== undefined)
    throw new HoneError("HONE_ERR_USAGE", "simulate is given --fit and --machine; it takes one machine");
  if (machine !== undefined) return { machine: readMachine(machine) };
  if (fit === undefined) return { machine: gpuMachine(recipe, networkOf(await recipeConfig(recipe))) };
  const { outcomes, ...fitted } = await fitMachine(fit);
  return { ...fitted, outcomes: outcomes(recipe.seed) };
}
