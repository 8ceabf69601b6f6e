import { Option } from "commander";
import type { Axis } from "../../simulate/index.ts";
import { EXIT } from "../exit.ts";
import { loadRecipe } from "../load-recipe.ts";
import { type Common, collect, print, SETTING, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly set: readonly string[];
  readonly fit?: string;
  readonly machine?: string;
  readonly answers?: string;
  readonly sweep?: Axis | true;
  readonly out?: string;
}

async function simulation(file: string, flags: Flags): Promise<number> {
  const { chooseMachine } = await import("../simulate.ts");
  const { writeWhole } = await import("../../metrics/index.ts");
  const { runPage, runText, simulate, sweepPage, sweepText, sweepVariants } = await import(
    "../../simulate/index.ts"
  );
  const recipe = await loadRecipe(file, flags.set);
  const { machine, outcomes, measured } = await chooseMachine(recipe, flags);
  const { name } = recipe;
  if (flags.sweep !== undefined) {
    const axis = flags.sweep === true ? "split" : flags.sweep;
    const swept = await sweepVariants(axis, recipe, machine, outcomes);
    if (flags.out !== undefined) writeWhole(flags.out, sweepPage(name, axis, swept));
    const cells = swept.map(({ name: cell, x, run: { steps: _, ...run } }) => ({ cell, x, ...run }));
    print(flags, { axis, machine, cells }, sweepText(name, swept));
    return EXIT.done;
  }
  const run = await simulate(recipe, machine, outcomes);
  if (flags.out !== undefined) writeWhole(flags.out, runPage(name, machine, run));
  print(flags, { machine, measured, run }, runText(name, machine, run));
  return EXIT.done;
}

export const simulateVerb: Verb = (hone, ends) => {
  hone
    .command("simulate <recipe>")
    .description(
      "simulate a run on a machine that is only described, by the pipeline's own scheduling under a virtual clock: hours, GPU-hours, which part waits for which",
    )
    .option("--fit <folder>", "fit the machine and the answers to this run's log")
    .option("--answers <folder>", "with --fit: take the answers from the log of this run")
    .option("--machine <file>", "read machine and answers from a file, in the format of --json")
    .addOption(
      new Option("--sweep [axis]", "GPUs that generate against GPUs that train, maxLag, or nodes")
        .choices(["split", "lag", "nodes"])
        .preset("split"),
    )
    .option("--out <file>", "write a page with table and plots (HTML)")
    .option(SETTING, "override a field of the recipe (repeatable)", collect, [])
    .option("--json", "print JSON")
    .action(ends(simulation));
};
