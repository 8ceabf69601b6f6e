import { overrideRecipe, type Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { ASSUMED } from "./assumptions.ts";
import type { Machine } from "./machine.ts";

/** Parameter of a sweep: number of generating GPUs, lag bound, or number of nodes. */
export const AXES = ["split", "lag", "nodes"] as const;
export type Axis = (typeof AXES)[number];

/** One cell of a sweep. */
export interface Variant {
  readonly name: string;
  /** Position of the variant on the axis. */
  readonly x: number;
  readonly recipe: Recipe;
  readonly machine: Machine;
  /** True for the recipe's own setting. */
  readonly own: boolean;
}

const LAGS = [0, 1, 2, 4, 8];
const NODES = [1, 2, 4, 8, 16];

/** The cells of an axis. Throws HONE_ERR_USAGE for a machine that cannot be split. */
export function variantsOf(axis: Axis, recipe: Recipe, machine: Machine): Variant[] {
  if (axis === "lag") return LAGS.map((maxLag) => withLag(recipe, machine, maxLag));
  if (machine.gpus < 2 || machine.actors + machine.trainers !== machine.gpus)
    throw new HoneError("HONE_ERR_USAGE", `--sweep ${axis} needs GPUs that generate and others that train`, {
      hint: "Set them in the recipe: hardware: { gpus, actorGpus }. --sweep lag works on any machine.",
    });
  return axis === "split" ? splits(recipe, machine) : nodes(recipe, machine);
}

function withLag(recipe: Recipe, machine: Machine, maxLag: number): Variant {
  const changed = overrideRecipe(recipe, [`training.maxLag=${maxLag}`]);
  return {
    name: `maxLag ${maxLag}`,
    x: maxLag,
    recipe: changed,
    machine,
    own: maxLag === recipe.training.maxLag,
  };
}

/** Splits of the GPUs between generation and training, in steps of one eighth of all GPUs (at least one GPU). */
function splits(recipe: Recipe, machine: Machine): Variant[] {
  const { gpus } = machine;
  const step = Math.max(1, Math.floor(gpus / ASSUMED.gpusPerNode));
  const counts = Array.from({ length: Math.ceil(gpus / step) - 1 }, (_, i) => (i + 1) * step);
  const all = [...new Set([...counts, machine.actors])].filter((n) => n < gpus).sort((a, b) => a - b);
  return all.map((actors) => ({
    name: `${actors}:${gpus - actors}`,
    x: actors,
    recipe,
    machine: resized(machine, actors, gpus - actors),
    own: actors === machine.actors,
  }));
}

/** The machine with fewer or more nodes; the fraction of GPUs that generate does not change. */
function nodes(recipe: Recipe, machine: Machine): Variant[] {
  const own = machine.gpus / ASSUMED.gpusPerNode;
  const fits = NODES.filter((count) => Number.isInteger((machine.actors * count) / own));
  return fits.map((count) => ({
    name: `${count} ${count === 1 ? "node" : "nodes"}`,
    x: count,
    recipe,
    machine: {
      ...resized(machine, (machine.actors * count) / own, (machine.trainers * count) / own),
      verifierWorkers: Math.max(1, Math.round((machine.verifierWorkers * count) / own)),
    },
    own: count === own,
  }));
}

/** Divides a step's work among the new number of trainers; engines keep their rates. */
function resized(machine: Machine, actors: number, trainers: number): Machine {
  const { trainer } = machine;
  const share = machine.trainers / trainers;
  const perToken = trainer.perToken * share;
  const perSquaredToken = trainer.perSquaredToken * share;
  return {
    ...machine,
    gpus: actors + trainers,
    actors,
    trainers,
    trainer: { ...trainer, perToken, perSquaredToken },
  };
}
