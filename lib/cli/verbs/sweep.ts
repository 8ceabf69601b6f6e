import { join } from "node:path";
import { Option } from "commander";
import { HoneError } from "../../errors.ts";
import { TABLE_FORMATS, type TableFormat } from "../../report/table-formats.ts";
import { EXIT, exitCodeOf, interruptSignal } from "../exit.ts";
import { type Common, collect, print, SETTING, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly grid: readonly string[];
  readonly axes?: string;
  readonly seeds?: string;
  readonly parallel: string;
  readonly dir?: string;
  readonly set: readonly string[];
  readonly list?: boolean;
  readonly format: TableFormat;
}

async function sweep(file: string, flags: Flags): Promise<number> {
  const { planSweep } = await import("../../sweeps/index.ts");
  const { listing, listingText, loadSweep, resultText, runShown } = await import("../sweep.ts");
  const { grid, seeds, axes } = flags;
  const plan = planSweep(await loadSweep(file, flags.set), {
    grid,
    ...(seeds !== undefined && { seeds: atLeastOne(seeds, "--seeds") }),
    ...(axes !== undefined && { axes: axes.split(",").map((name) => name.trim()) }),
  });
  const parallel = atLeastOne(flags.parallel, "--parallel");
  if (flags.list) {
    print(flags, listing(plan), listingText(plan));
    return EXIT.done;
  }
  const dir = flags.dir ?? join("runs", plan.name);
  const signal = interruptSignal((line) => process.stderr.write(`${line}\n`));
  const result = await runShown(plan, { dir, parallel, signal });
  print(flags, result, resultText(dir, result, flags.format));
  if (signal.aborted) return exitCodeOf(signal.reason);
  return result.jobs.some(({ state }) => state === "failed") ? EXIT.data : EXIT.done;
}

function atLeastOne(text: string, option: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new HoneError("HONE_ERR_USAGE", `${option} is ${text}; it must be a whole number, at least 1`);
}

export const sweepVerb: Verb = (hone, ends) => {
  hone
    .command("sweep <recipe>")
    .description(
      "run a recipe, or the cells of a sweep file, over a grid and several seeds; a repeated command continues an interrupted sweep",
    )
    .option("--grid <axes>", "path=value|value, several axes joined by commas (repeatable)", collect, [])
    .option("--axes <names>", "vary only these axes of the sweep file")
    .option("--seeds <n>", "runs of each cell, seeds counted up from the recipe's (default: 3)")
    .option("--parallel <n>", "number of concurrent processes; they share the cores", "1")
    .option("--dir <folder>", "folder of the sweep (default: runs/<its name>)")
    .option(SETTING, "override a field in every cell (repeatable)", collect, [])
    .option("--list", "print the cells and run nothing")
    .addOption(new Option("--format <format>", "of the tables").choices([...TABLE_FORMATS]).default("text"))
    .option("--json", "print JSON")
    .action(ends(sweep));
};
