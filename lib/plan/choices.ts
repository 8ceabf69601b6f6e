import { overrideRecipe, type Recipe } from "../config/index.ts";
import type { Applied } from "./advice.ts";
import { CHANGES } from "./changes.ts";
import { fits, type Measured } from "./measured.ts";

/** What a run changes by itself to fit its machine. */
export interface Choice {
  readonly changes: readonly Applied[];
  /** The recipe with these changes. */
  readonly recipe: Recipe;
  readonly measured: Measured;
}

/** A recipe as it is, or with what a run changes by itself where it would not fit. */
export function placed(recipe: Recipe, measure: (recipe: Recipe) => Measured): Recipe {
  return fits(measure(recipe)) ? recipe : (choiceFor(recipe, measure)?.recipe ?? recipe);
}

/** The cheapest of the free changes which makes a recipe fit; undefined where none is enough. */
export function choiceFor(recipe: Recipe, measure: (recipe: Recipe) => Measured): Choice | undefined {
  const { network } = measure(recipe);
  const free = CHANGES.filter(({ isFree }) => isFree).flatMap(({ name, cost, assignments }) => {
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
