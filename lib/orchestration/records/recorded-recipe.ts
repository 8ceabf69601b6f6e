import { defineRecipe, type Recipe, type RecipeInput } from "../../config/index.ts";

/** Values of resolved recipes that have another name today: [field, old, new]; see CHANGELOG.md. */
const RENAMED = [
  ["advantages.filter", "raw", "score"],
  ["advantages.filter", "shaped", "reward"],
] as const;

/** A resolved recipe as a run folder keeps it, in today's names. What people write is not translated but refused. */
export function inTodaysNames(recorded: unknown): unknown {
  const config = structuredClone(recorded);
  for (const [path, old, now] of RENAMED) {
    const [section, field] = path.split(".") as [string, string];
    const fields = (config as Record<string, Record<string, unknown> | undefined> | undefined)?.[section];
    if (fields?.[field] === old) fields[field] = now;
  }
  return config;
}

/** Throws HONE_ERR_CONFIG for what this version cannot run. @param dir the run folder. */
export const recordedRecipe = (recorded: unknown, dir: string): Recipe =>
  defineRecipe(inTodaysNames(recorded) as RecipeInput, dir);
