import type { DatasetSpec } from "../../domains/index.ts";
import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { type Common, collect, print, SETTING, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly kind?: string;
  readonly verifier?: string;
  readonly set: readonly string[];
  readonly gold: boolean;
  readonly drops?: string;
}

async function check(target: string, flags: Flags): Promise<number> {
  const { checkDataset, dataCheckText, datasetsOf, isUseless, writeDrops } = await import("../data-check.ts");
  const { parseDatasetSpec } = await import("../../domains/index.ts");
  const { loadRecipe } = await import("../load-recipe.ts");
  const given = flags.kind === undefined ? undefined : parseDatasetSpec(`${flags.kind}:${target}`);
  if (flags.kind !== undefined && given === undefined) {
    const { DATASETS } = await import("../../domains/index.ts");
    throw new HoneError("HONE_ERR_USAGE", `no data set is called ${JSON.stringify(flags.kind)}`, {
      hint: `Known kinds: ${Object.keys(DATASETS).join(", ")}.`,
    });
  }
  const spec = await specOf(target, given, flags.verifier);
  const specs = spec ? new Map([[target, spec]]) : datasetsOf(await loadRecipe(target, flags.set));
  if (specs.size === 0) throw new HoneError("HONE_ERR_USAGE", `${target} names no data set as a source`);
  const checks = [];
  for (const [name, spec] of specs) checks.push(await checkDataset(name, spec, { gold: flags.gold }));
  if (flags.drops !== undefined) writeDrops(flags.drops, checks);
  print(flags, checks, dataCheckText(checks));
  return checks.some(isUseless) ? EXIT.data : EXIT.done;
}

/** The data that the argument names; undefined for a recipe. */
async function specOf(
  target: string,
  given: DatasetSpec | undefined,
  verifier: string | undefined,
): Promise<DatasetSpec | undefined> {
  const { isDataPath } = await import("../../data/index.ts");
  if (given?.kind === "jsonl") return { ...given, verifier: verifier ?? "math" };
  if (given !== undefined || !isDataPath(target)) return given;
  const { tellKind } = await import("../../domains/data-kind.ts");
  return tellKind(target, verifier);
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
    .option("--verifier <name>", "who judges rows of your own (default: math)")
    .option("--no-gold", "do not ask the verifiers about the gold answers")
    .option(
      "--drops <file>",
      "write the rows whose gold answer is rejected; a source's `drops` leaves them out",
    )
    .option(SETTING, "override a field of the recipe (repeatable)", collect, [])
    .option("--json", "print JSON")
    .action(ends(check));
};
