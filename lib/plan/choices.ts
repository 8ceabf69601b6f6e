import { overrideRecipe, type Recipe } from "../config/index.ts";
import type { Applied } from "./advice.ts";
import { CHANGES } from "./changes.ts";
import { fits, type Measured } from "./measured.ts";

/** Changes that cost time and change no number of a run, so that it may make them by itself. */
const FREE = ["checkpoint.async", "hardware.recompute"];

/** What a run changes by itself to fit its machine. */
export interface Choice {
  readonly changes: readonly Applied[];
  /** The recipe with these changes. */
  readonly recipe: Recipe;
  readonly measured: Measured;
}

/** The cheapest of the changes that change no number which makes a recipe fit; undefined where none is enough. */
export function choiceFor(recipe: Recipe, measure: (recipe: Recipe) => Measured): Choice | undefined {
  const { network } = measure(recipe);
  const free = CHANGES.filter(({ name }) => FREE.includes(name)).flatMap(({ name, cost, assignments }) => {
    const made = assignments(recipe, network);
    return made === undefined ? [] : [{ name, cost, assignments: made }];
  });
  for (let set = 1; set < 2 ** free.length; set++) {
    const changes = free.filter((_, i) => (set >> i) & 1);
    const changed = overrideRecipe(
      recipe,
      changes.flatMap(({ assignments }) => assignments),
    );
    const measured = measure(changed);
    if (fits(measured)) return { changes, recipe: changed, measured };
  }
  return undefined;
}
