import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { loadRecipe } from "../load-recipe.ts";
import { type Common, collect, print, SETTING, STRICT_CONFIG, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly set: readonly string[];
  readonly gpuMemory?: string;
  readonly table?: boolean;
}

async function plan(file: string | undefined, flags: Flags): Promise<number> {
  if (flags.table) return table(flags);
  if (file === undefined)
    throw new HoneError("HONE_ERR_USAGE", "plan is given neither a recipe nor --table", {
      hint: "npx hone plan recipes/single-gpu.ts",
    });
  const { planRecipe, planText } = await import("../plan.ts");
  const { expectFit } = await import("../../plan/index.ts");
  const recipe = await loadRecipe(file, flags.set);
  const found = await planRecipe(recipe, flags.gpuMemory);
  print(flags, found, planText(recipe, found));
  expectFit(found);
  return EXIT.done;
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
    .command("plan [recipe]")
    .description(
      "memory by class of tensor and role, against what the device has; for what cannot fit, the changes that make it",
    )
    .option(
      "--gpu-memory <amount>",
      "of one GPU, instead of what the recipe says or this machine has, e.g. 80GiB",
    )
    .option("--table", "published models on cards of 24 to 141 GB, instead of a recipe: docs/models.md")
    .option(SETTING, "override a field (repeatable)", collect, [])
    .option(...STRICT_CONFIG)
    .option("--json", "print JSON")
    .action(ends(plan));
};
