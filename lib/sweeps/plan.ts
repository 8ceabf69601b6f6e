import { join } from "node:path";
import { overrideRecipe, type Recipe } from "../config/index.ts";
import { hashOf, type PlannedCell } from "./cells.ts";

/** One process of a sweep. Paths are relative to the sweep's folder. */
export interface Job {
  /**
   * Name of the job, and path of its folder in the sweep's folder: "runs/<cell>/seed-<n>", "starts/<hash>/seed-<n>".
   */
  readonly id: string;
  /** Name of the cell; undefined for a warm start that several runs begin with. */
  readonly cell?: string | undefined;
  readonly seed: number;
  readonly recipe: Recipe;
  /** Id of the job whose warm start it begins with. */
  readonly needs?: string | undefined;
}

/**
 * The jobs of a sweep: one run per cell and seed, and before them one warm start for each group of runs that
 * would do the same one. Warm starts first, then seed by seed, so that every cell has its first numbers
 * early.
 */
export function planJobs(cells: readonly PlannedCell[], seeds: readonly number[]): Job[] {
  const runs = seeds.flatMap((seed) =>
    cells.map((cell) => ({ cell, seed, recipe: overrideRecipe(cell.recipe, [`seed=${seed}`]) })),
  );
  const sharing = new Map<string, number>();
  for (const { recipe } of runs) {
    const key = startKey(recipe);
    if (key !== undefined) sharing.set(key, (sharing.get(key) ?? 0) + 1);
  }
  const starts = new Map<string, Job>();
  const jobs = runs.map(({ cell, seed, recipe }): Job => {
    const key = startKey(recipe);
    const needs = key !== undefined && sharing.get(key)! > 1 ? `starts/${key}` : undefined;
    if (needs !== undefined && !starts.has(needs))
      starts.set(needs, { id: needs, seed, recipe: warmStartOnly(recipe) });
    return { id: `runs/${cell.id}/seed-${seed}`, cell: cell.name, seed, recipe, needs };
  });
  return [...starts.values(), ...jobs];
}

/** Names all that a warm start depends on; undefined for a recipe without one. */
function startKey(recipe: Recipe): string | undefined {
  const { warmStart, model, tokenizer, chatTemplate, lora, device, deterministic, rollouts } = recipe;
  if (warmStart === undefined || warmStart.steps === 0) return undefined;
  const { maxOutputTokens, maxPromptTokens } = rollouts;
  const lengths = { maxOutputTokens, maxPromptTokens, packedTokens: recipe.training.packedTokens };
  const { recompute, optimizerMemory } = recipe.hardware ?? {};
  const machine = { device, deterministic, recompute, optimizerMemory };
  const played = demonstratedEpisodes(recipe, warmStart);
  return `${hashOf({ warmStart, model, tokenizer, chatTemplate, lora, machine, lengths, ...played })}/seed-${recipe.seed}`;
}

/** For domains whose demonstrations are episodes: index, problems, environment and limits. */
function demonstratedEpisodes({ domains }: Recipe, { mixture }: NonNullable<Recipe["warmStart"]>) {
  const played = Object.entries(domains).flatMap(([name, { source, environment, episode }], place) =>
    environment !== undefined && Object.hasOwn(mixture, name)
      ? [{ name, place, source, environment, episode }]
      : [],
  );
  return played.length > 0 ? { played } : {};
}

/** A run without steps: its folder then has the initial weights. */
function warmStartOnly(recipe: Recipe): Recipe {
  return overrideRecipe(recipe, [
    "training.steps=0",
    'evaluation={"problemsPerDomain":1,"attempts":1,"settings":[{"temperature":1}]}',
  ]);
}

/** Path of a warm start's weights, relative to its run folder. */
export const startCheckpoint = (dir: string, start: string): string =>
  join(dir, start, "checkpoints", "warm-start");
