import { defineRecipe, type Recipe, type RecipeInput } from "../../config/index.ts";
import { readFrom, type Terms } from "../../trust.ts";

/** Values of resolved recipes that have another name today: [field, old, new]; see CHANGELOG.md. */
const RENAMED = [
  ["advantages.filter", "raw", "score"],
  ["advantages.filter", "shaped", "reward"],
] as const;

/** What runs did before a field that says so was there: [field, value]. */
const ADDED = [["rollouts.maskPadding", false]] as const;

/** A resolved recipe as a run folder keeps it, in today's names. What people write is not translated but refused. */
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
 * A recipe of a run folder: what it names is opened only as far as the terms allow. Throws HONE_ERR_CONFIG for what this
 * version cannot run.
 * @param dir the run folder. @param terms default: nothing is allowed.
 */
export const recordedRecipe = (recorded: unknown, dir: string, terms?: Terms): Recipe =>
  readFrom(defineRecipe(inTodaysNames(recorded) as RecipeInput, dir), dir, terms);
