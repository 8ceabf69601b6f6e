import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { isRecipe, loadRecipe } from "../load-recipe.ts";
import { type Common, collect, print, SETTING, STRICT_CONFIG, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly set: readonly string[];
  readonly gpuMemory?: string;
  readonly table?: boolean;
}

async function plan(file: string | undefined, flags: Flags): Promise<number> {
  if (flags.table) return table(flags);
  if (file === undefined)
    throw new HoneError("HONE_ERR_USAGE", "plan is given neither a recipe nor a model nor --table", {
      hint: "npx hone plan recipes/single-gpu.ts, or: npx hone plan Qwen/Qwen3-4B --gpu-memory 48GiB",
    });
  const { planRecipe, planText } = await import("../plan.ts");
  const { expectFit } = await import("../../plan/index.ts");
  const recipe = isRecipe(file) ? await loadRecipe(file, flags.set) : await ofModel(file, flags.set);
  const found = await planRecipe(recipe, flags.gpuMemory);
  const text = planText(recipe, found);
  print(flags, found, isRecipe(file) ? text : `${text}\n\n${ASSUMED}`);
  expectFit(found);
  return EXIT.done;
}

const ASSUMED =
  "Planned as on one card that generates and trains, answers of up to 16,000 tokens to prompts of up to 2,000, 64 at once; " +
  "--set rollouts.maxOutputTokens=4000 (training.packedTokens, engine.maxRunning, ...) plans it otherwise.";

/** The recipe for a model folder or Hub name, which `--table` uses too. */
async function ofModel(model: string, settings: readonly string[]): Promise<Recipe> {
  const { overrideRecipe } = await import("../../config/index.ts");
  const { recipeOfModel } = await import("../../plan/index.ts");
  return overrideRecipe(recipeOfModel(model), settings);
}

async function table(flags: Flags): Promise<number> {
  const { planTable } = await import("../../plan/index.ts");
  const { planTableText } = await import("../plan-table.ts");
  const rows = planTable();
  print(flags, rows, planTableText(rows));
  return EXIT.done;
}

export const planVerb: Verb = (hone, ends) => {
  hone
    .command("plan [recipe-or-model]")
    .description(
      "print the memory that a recipe needs by class of tensor and role, the memory of the device, and, if the recipe does not fit, changes that make it fit; for a model alone (folder or Hub name): full training on one card, answers up to 16,000 tokens",
    )
    .option("--gpu-memory <amount>", "memory of one GPU, overriding the recipe and this machine, e.g. 80GiB")
    .option(
      "--table",
      "published models on cards of 24 to 141 GB, instead of a recipe: docs/reference/models.md",
    )
    .option(SETTING, "override a field of the recipe (repeatable)", collect, [])
    .option(...STRICT_CONFIG)
    .option("--json", "print JSON")
    .action(ends(plan));
};
