import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { MemoryPlan } from "../../plan/index.ts";
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
  const { planText } = await import("../plan.ts");
  const { expectFit } = await import("../../plan/index.ts");
  const { recipe, found, assumed } = await (isRecipe(file) ? planFile(file, flags) : planModel(file, flags));
  const text = planText(recipe, found);
  print(flags, found, assumed === undefined ? text : `${text}\n\n${assumed}`);
  expectFit(found);
  return EXIT.done;
}

interface Planned {
  readonly recipe: Recipe;
  readonly found: MemoryPlan;
  /** What the plan of a model alone assumes. */
  readonly assumed?: string;
}

async function planFile(file: string, { set, gpuMemory }: Flags): Promise<Planned> {
  const { planRecipe } = await import("../plan.ts");
  const recipe = await loadRecipe(file, set);
  return { recipe, found: await planRecipe(recipe, gpuMemory) };
}

/** Plans a model alone: as on one card, or on the CPU if only the CPU can run it. */
async function planModel(model: string, { set, gpuMemory }: Flags): Promise<Planned> {
  const { planRecipe } = await import("../plan.ts");
  const recipe = await ofModel(model, set);
  const where = recipe.device === "cpu" ? "on the CPU" : "as on one card that generates and trains";
  try {
    return { recipe, found: await planRecipe(recipe, gpuMemory), assumed: assumedText(where) };
  } catch (error) {
    if (!HoneError.is(error) || error.code !== "HONE_ERR_UNSUPPORTED" || recipe.device === "cpu") throw error;
    const onCpu = await ofModel(model, [...set, "device=cpu"]);
    const assumed = `A GPU cannot run it: ${error.message}\n\n${assumedText("on the CPU")}`;
    return { recipe: onCpu, found: await planRecipe(onCpu), assumed };
  }
}

const assumedText = (where: string): string =>
  `Planned ${where}, answers of up to 16,000 tokens to prompts of up to 2,000, 64 at once; ` +
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
