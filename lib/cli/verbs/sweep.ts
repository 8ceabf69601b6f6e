import { Option } from "commander";
import { TABLE_FORMATS, type TableFormat } from "../../report/index.ts";
import { type Common, collect, SETTING, type Verb } from "./verb.ts";

export interface SweepFlags extends Common {
  readonly grid: readonly string[];
  readonly axes?: string;
  readonly seeds?: string;
  readonly parallel: string;
  readonly dir?: string;
  readonly set: readonly string[];
  readonly list?: boolean;
  readonly format: TableFormat;
}

async function sweep(file: string, flags: SweepFlags): Promise<number> {
  const { sweepCommand } = await import("../sweep.ts");
  return sweepCommand(file, flags);
}

export const sweepVerb: Verb = (hone, ends) => {
  hone
    .command("sweep <recipe>")
    .description(
      "run a recipe, or the cells of a sweep file, over a grid and several seeds; goes on where it was cut",
    )
    .option("--grid <axes>", "path=value|value, several axes joined by commas (repeatable)", collect, [])
    .option("--axes <names>", "of the axes that a sweep file names, vary these alone")
    .option("--seeds <n>", "runs of each cell, seeds counted up from the recipe's (default: 3)")
    .option("--parallel <n>", "processes at a time; they share the cores", "1")
    .option("--dir <folder>", "folder of the sweep (default: runs/<its name>)")
    .option(SETTING, "override a field in every cell (repeatable)", collect, [])
    .option("--list", "print the cells and run nothing")
    .addOption(new Option("--format <format>", "of the tables").choices([...TABLE_FORMATS]).default("text"))
    .option("--json", "print JSON")
    .action(ends(sweep));
};
