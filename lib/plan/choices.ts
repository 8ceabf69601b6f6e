import { overrideRecipe, type Recipe } from "../config/index.ts";
import type { Applied } from "./advice.ts";
import { CHANGES } from "./changes.ts";
import { fits, type Measured } from "./measured.ts";

/** Changes that a run makes by itself to fit its machine. */
export interface Choice {
  readonly changes: readonly Applied[];
  /** The recipe with `changes` applied. */
  readonly recipe: Recipe;
  readonly measured: Measured;
}

/** The recipe, with the changes that a run makes by itself if it would not fit. */
export function placed(recipe: Recipe, measure: (recipe: Recipe) => Measured): Recipe {
  return fits(measure(recipe)) ? recipe : (choiceFor(recipe, measure)?.recipe ?? recipe);
}

/** The cheapest free change with which a recipe fits; undefined if none suffices. */
export function choiceFor(recipe: Recipe, measure: (recipe: Recipe) => Measured): Choice | undefined {
  const free = CHANGES.filter(({ isFree }) => isFree).flatMap(({ name, cost, assignments }) => {
    const made = assignments(recipe);
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
