import { recipeInput } from "./recipe.ts";
import type { Recipe } from "./schema.ts";

/** Fields that decide whether, and what, a run learns. */
const DECISIVE = [
  "optimizer.lr",
  "optimizer.warmupSteps",
  "objective.kind",
  "rollouts.groupSize",
  "advantages.filter",
  "lengthPenalty.kind",
] as const;

/** Important fields that the recipe's author left out, with the values that its run uses. */
export function leftAtDefault(recipe: Recipe): Record<string, string | number> {
  const input = recipeInput(recipe);
  const left = DECISIVE.filter((path) => valueAt(input, path) === undefined);
  return Object.fromEntries(left.map((path) => [path, valueAt(recipe, path) as string | number]));
}

function valueAt(object: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], object);
}
