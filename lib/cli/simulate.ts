import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { networkOf } from "../plan/network.ts";
import { gpuMachine, type Machine, type Outcomes, readMachine } from "../simulate/index.ts";
import { recipeConfig } from "./recipe-config.ts";

/** Source of the machine's description; without `fit` and `machine`: the recipe's hardware. */
export interface MachineChoice {
  readonly fit?: string;
  readonly machine?: string;
  /** Path of another run that provides the answers. */
  readonly answers?: string;
}

/** A machine to simulate, and the answers of the run to which it was fitted, if any. */
export interface ChosenMachine {
  readonly machine: Machine;
  readonly outcomes?: Outcomes;
  /** Measurements of the run to which the machine was fitted. */
  readonly measured?: { readonly steps: number; readonly seconds: number };
}

/** Throws HONE_ERR_USAGE if both `fit` and `machine` are given, and the errors of reading or fitting. */
export async function chooseMachine(
  recipe: Recipe,
  { fit, machine, answers }: MachineChoice,
): Promise<ChosenMachine> {
  if (fit !== undefined && machine !== undefined)
    throw new HoneError(
      "HONE_ERR_USAGE",
      "--fit and --machine are both given; a simulation takes its machine from one of them",
    );
  if (machine !== undefined) return { machine: readMachine(machine) };
  if (fit === undefined) return { machine: gpuMachine(recipe, networkOf(await recipeConfig(recipe))) };
  const { fitMachine } = await import("../simulate/fit.ts");
  const { outcomes, machine: found, measured } = await fitMachine(fit, answers);
  return { machine: withProcesses(found, recipe), measured, outcomes: outcomes(recipe.seed) };
}

/** Sets the number of actors that the recipe asks for. Throws HONE_ERR_USAGE if the fitted run has no measurements of actors. */
function withProcesses(machine: Machine, { hardware }: Recipe): Machine {
  const processes = hardware?.processes;
  if (processes === undefined) return machine;
  if (machine.shared !== undefined && processes.trainers === 1)
    return { ...machine, actors: processes.actors };
  throw new HoneError(
    "HONE_ERR_USAGE",
    `the fitted run has no measurements for ${processes.actors} actors and ${processes.trainers} trainers`,
    { hint: "Fit a synchronous run of one actor and one trainer; any number of actors follows from it." },
  );
}
