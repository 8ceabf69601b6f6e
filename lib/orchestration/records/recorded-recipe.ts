import { defineRecipe, type Recipe, type RecipeInput } from "../../config/index.ts";
import { readFrom, type Terms } from "../../trust.ts";

/** Values of resolved recipes that have another name today: [field, old, new]; see CHANGELOG.md. */
const RENAMED = [
  ["advantages.filter", "raw", "score"],
  ["advantages.filter", "shaped", "reward"],
] as const;

/** Values of newer fields that reproduce older runs: [field, value]. */
const ADDED = [["rollouts.maskPadding", false]] as const;

/**
 * A resolved recipe of a run folder with its fields renamed to current names. Only records are translated; user input
 * with old names is refused.
 */
export function inTodaysNames(recorded: unknown): unknown {
  const config = structuredClone(recorded) as Record<string, Record<string, unknown> | undefined> | undefined;
  const at = (path: string) => {
    const [section, field] = path.split(".") as [string, string];
    return { fields: config?.[section], field };
  };
  for (const [path, old, now] of RENAMED) {
    const { fields, field } = at(path);
    if (fields?.[field] === old) fields[field] = now;
  }
  for (const [path, value] of ADDED) {
    const { fields, field } = at(path);
    if (fields !== undefined) fields[field] ??= value;
  }
  return config;
}

/**
 * Reads the recipe of a run folder; opens the modules and servers that it names only as far as the terms allow.
 * Throws HONE_ERR_CONFIG for a recipe that this version cannot run.
 * @param dir the run folder @param terms default: nothing is allowed
 */
export const recordedRecipe = (recorded: unknown, dir: string, terms?: Terms): Recipe =>
  readFrom(defineRecipe(inTodaysNames(recorded) as RecipeInput, dir), dir, terms);
