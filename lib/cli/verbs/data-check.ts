import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { type Common, collect, print, SETTING, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly kind?: string;
  readonly set: readonly string[];
  readonly gold: boolean;
  readonly drops?: string;
}

async function check(target: string, flags: Flags): Promise<number> {
  const { checkDataset, dataCheckText, datasetsOf, writeDrops } = await import("../data-check.ts");
  const { parseDatasetSpec } = await import("../../data/index.ts");
  const { loadRecipe } = await import("../load-recipe.ts");
  const given = flags.kind === undefined ? undefined : parseDatasetSpec(`${flags.kind}:${target}`);
  if (flags.kind !== undefined && given === undefined) {
    const { DATASETS } = await import("../../data/index.ts");
    throw new HoneError("HONE_ERR_USAGE", `no data set is called ${JSON.stringify(flags.kind)}`, {
      hint: `Known kinds: ${Object.keys(DATASETS).join(", ")}.`,
    });
  }
  const specs = given ? new Map([[target, given]]) : datasetsOf(await loadRecipe(target, flags.set));
  if (specs.size === 0) throw new HoneError("HONE_ERR_USAGE", `${target} names no data set as a source`);
  const checks = [];
  for (const [name, spec] of specs) checks.push(await checkDataset(name, spec, { gold: flags.gold }));
  if (flags.drops !== undefined) writeDrops(flags.drops, checks);
  print(flags, checks, dataCheckText(checks));
  return EXIT.done;
}

export const dataCheckVerb: Verb = (hone, ends) => {
  hone
    .command("data")
    .description("look at data sets")
    .command("check <recipe-or-data>")
    .description(
      "read the data sets of a recipe, or a file or folder of one kind; have the gold answers judged",
    )
    .option("--kind <kind>", "the argument is data of this kind: open-reasoner-zero, taco, bfcl, ...")
    .option("--no-gold", "do not ask the verifiers about the gold answers")
    .option(
      "--drops <file>",
      "write the rows whose gold answer is rejected; a source's `drops` leaves them out",
    )
    .option(SETTING, "override a field of the recipe (repeatable)", collect, [])
    .option("--json", "print JSON")
    .action(ends(check));
};
