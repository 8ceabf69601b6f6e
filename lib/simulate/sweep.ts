import type { Recipe } from "../config/index.ts";
import type { Machine } from "./machine.ts";
import type { SimulatedRun } from "./run-facts.ts";
import { simulate } from "./simulation.ts";
import { type Axis, type Variant, variantsOf } from "./variants.ts";
import type { Outcomes } from "./workload.ts";

/** A cell, and its run's results. */
export interface SweptVariant extends Variant {
  readonly run: SimulatedRun;
}

/** Simulates every cell of an axis in sequence. Throws the errors of `variantsOf` and `simulate`. */
export async function sweepVariants(
  axis: Axis,
  recipe: Recipe,
  machine: Machine,
  outcomes?: Outcomes,
): Promise<SweptVariant[]> {
  const swept: SweptVariant[] = [];
  for (const variant of variantsOf(axis, recipe, machine))
    swept.push({ ...variant, run: await simulate(variant.recipe, variant.machine, outcomes) });
  return swept;
}
