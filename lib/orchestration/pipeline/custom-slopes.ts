import { expectTrustedRecipes, type Recipe, slopesFunction } from "../../config/index.ts";
import type { SlopesFunction } from "../../custom-objective.ts";
import { HoneError } from "../../errors.ts";
import type { StepOptions } from "../../native/face.ts";
import { askSlopes, loadSlopes } from "../../shared/objectives/slopes-function.ts";
import { moduleUrl } from "../../user-module.ts";

/**
 * Returns the function through which the trainer gets a custom objective's slopes: the recipe's function, or its
 * module's. Undefined for a built-in objective. Throws HONE_ERR_USAGE where the recipe knows its function by name
 * alone, as one read from a run folder does, and HONE_ERR_TRUST for a module of such a recipe that the user has not
 * allowed.
 */
export function customSlopes(recipe: Recipe): StepOptions["slopes"] {
  const { objective } = recipe;
  const { kind, slopes } = objective;
  if (kind !== "custom" || slopes === undefined) return undefined;
  expectTrustedRecipes([recipe], ["objective"]);
  if ("module" in slopes) return { module: moduleUrl(slopes.module), sha256: slopes.sha256 };
  const called = slopesFunction(objective);
  if (called !== undefined) return (request) => askSlopes(called, request, objective);
  throw new HoneError(
    "HONE_ERR_USAGE",
    `objective.slopes is the function ${slopes.function} of the run's entry script, which was not loaded`,
    { hint: "Give the recipe file as well: `--recipe FILE`." },
  );
}

/**
 * A custom objective's function itself; undefined for a built-in objective. Throws what customSlopes throws,
 * and HONE_ERR_CONFIG for a module that cannot be loaded.
 */
export async function openSlopes(recipe: Recipe): Promise<SlopesFunction | undefined> {
  const slopes = customSlopes(recipe);
  return typeof slopes === "object" ? await loadSlopes(slopes) : slopesFunction(recipe.objective);
}
