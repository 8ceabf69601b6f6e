import { type Command, InvalidArgumentError } from "commander";
import type { Recipe } from "../../config/index.ts";
import type { DatasetSpec, RowMap } from "../../domains/index.ts";
import { HoneError } from "../../errors.ts";
import { columnsOf } from "../../report/terminal.ts";
import { EXIT } from "../exit.ts";
import { type Common, collect, print, SETTING, type Verb } from "./verb.ts";

interface SourceFlags extends Common {
  readonly kind?: string;
  readonly verifier?: string;
  readonly map?: string;
  readonly set: readonly string[];
}

interface CheckFlags extends SourceFlags {
  readonly gold: boolean;
  readonly drops?: string;
}

async function check(target: string, flags: CheckFlags): Promise<number> {
  const { checkDataset, dataCheckText, isUseless, writeDrops } = await import("../data-check.ts");
  const { specs } = await sourcesOf(target, flags);
  const checks = [];
  for (const [name, spec] of specs) checks.push(await checkDataset(name, spec, { gold: flags.gold }));
  if (flags.drops !== undefined) writeDrops(flags.drops, checks);
  print(flags, checks, dataCheckText(checks));
  return checks.some(isUseless) ? EXIT.data : EXIT.done;
}

async function count(target: string, flags: SourceFlags): Promise<number> {
  const { countDataset, dataCountText, isCounted, promptFilter } = await import("../data-count.ts");
  const { specs, recipe } = await sourcesOf(target, flags);
  const prompts = recipe && (await promptFilter(recipe));
  const admit = prompts && "admit" in prompts ? prompts.admit : undefined;
  const sources = [];
  for (const [name, spec] of specs) sources.push(await countDataset(name, spec, admit));
  const sets = Object.keys(recipe?.evaluation.sets ?? {});
  const notes = [
    ...(prompts && "unknown" in prompts ? [prompts.unknown] : []),
    ...(sets.length > 0 ? [`rows that ${sets.join(", ")} ask are counted here; a run leaves them out`] : []),
  ];
  print(flags, { sources, notes }, dataCountText(sources, notes));
  return sources.every((one) => isCounted(one) && one.usable > 0) ? EXIT.done : EXIT.data;
}

async function useful(evaluation: string, flags: Common & { readonly group: number }): Promise<number> {
  const { usefulGroups } = await import("../../suites/index.ts");
  const { usefulText } = await import("../data-useful.ts");
  const suites = usefulGroups(evaluation, flags.group);
  if (suites.length === 0)
    throw new HoneError("HONE_ERR_DATA", `${evaluation} has no judged answer yet`, {
      hint: "Continue the evaluation with hone eval.",
    });
  print(flags, suites, usefulText(suites, flags.group, columnsOf(process.stdout)));
  return EXIT.done;
}

function groupOf(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= 2) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 2.");
}

/** The data sets that the argument names, and its recipe if it is one. */
async function sourcesOf(
  target: string,
  flags: SourceFlags,
): Promise<{ readonly specs: ReadonlyMap<string, DatasetSpec>; readonly recipe?: Recipe }> {
  const { datasetsOf } = await import("../data-check.ts");
  const { parseDatasetSpec } = await import("../../domains/index.ts");
  const { loadRecipe } = await import("../load-recipe.ts");
  if (flags.verifier !== undefined) await refuseUnknown(flags.verifier);
  const given = flags.kind === undefined ? undefined : parseDatasetSpec(`${flags.kind}:${target}`);
  if (flags.kind !== undefined && given === undefined) {
    const { DATASETS } = await import("../../domains/index.ts");
    throw new HoneError("HONE_ERR_USAGE", `no data set is called ${JSON.stringify(flags.kind)}`, {
      hint: `Known kinds: ${Object.keys(DATASETS).join(", ")}.`,
    });
  }
  const spec = await specOf(target, given, flags);
  if (spec !== undefined) return { specs: new Map([[target, spec]]) };
  const recipe = await loadRecipe(target, flags.set);
  const specs = await datasetsOf(recipe);
  if (specs.size === 0)
    throw new HoneError("HONE_ERR_USAGE", `no domain of the recipe ${target} has a data set as its source`);
  return { specs, recipe };
}

/** Throws HONE_ERR_USAGE for a verifier that is not built in. */
async function refuseUnknown(verifier: string): Promise<void> {
  const { VERIFIERS } = await import("../../domains/index.ts");
  const { nearest } = await import("../../config/nearest.ts");
  const known = VERIFIERS.map(({ name }) => name);
  if (known.includes(verifier)) return;
  const meant = nearest(verifier, known);
  throw new HoneError(
    "HONE_ERR_USAGE",
    `--verifier: there is no verifier named ${JSON.stringify(verifier)}`,
    {
      hint: `${meant === undefined ? "" : `Did you mean ${meant}? `}Known verifiers: ${known.join(", ")}.`,
    },
  );
}

/** The data set that the argument names; undefined if the argument is a recipe. */
async function specOf(
  target: string,
  given: DatasetSpec | undefined,
  { verifier, map: place }: SourceFlags,
): Promise<DatasetSpec | undefined> {
  const { isRecipe } = await import("../load-recipe.ts");
  const { tellKind, tellVerifier } = await import("../../domains/data-kind.ts");
  const map = place === undefined ? undefined : await rowMapAt(place);
  if (given !== undefined) return tellVerifier({ ...given, ...(map && { map }) }, verifier);
  if (!isRecipe(target)) {
    const { localPaths } = await import("../../orchestration/index.ts");
    return tellKind((await localPaths(target)).paths, verifier, map);
  }
  if (map === undefined) return undefined;
  throw new HoneError("HONE_ERR_USAGE", `--map is for data; ${target} is a recipe`, {
    hint: "Give its source the map: { kind, path, map }.",
  });
}

/** Loads a function that makes rows. Throws HONE_ERR_CONFIG if its module does not export it. */
async function rowMapAt(place: string): Promise<RowMap> {
  const { loadRowMap } = await import("../../data/row-map.ts");
  const { hashAt } = await import("../../config/source-hash.ts");
  const sha256 = hashAt(place);
  if (sha256 !== undefined) return loadRowMap({ module: place, sha256 });
  throw new HoneError("HONE_ERR_USAGE", `--map: there is no module at ${place}`, {
    hint: 'Name a file by path, and its export after #: "./rows.ts#toRow".',
  });
}

const withSources = (command: Command): Command =>
  command
    .option("--kind <kind>", "the argument is data of this kind: open-reasoner-zero, taco, bfcl, ...")
    .option("--map <module>", 'convert each row by this function before it is read: "./rows.ts#toRow"')
    .option("--verifier <name>", "verifier for your own rows (default: math)")
    .option(SETTING, "override a field of the recipe (repeatable)", collect, [])
    .option("--json", "print JSON");

export const dataVerb: Verb = (hone, ends) => {
  const data = hone.command("data").description("check, count and measure data sets");
  withSources(data.command("check <recipe-or-data>"))
    .description(
      "read the data sets of a recipe, or a file or folder of one kind; have the gold answers judged",
    )
    .option("--no-gold", "do not check the gold answers with the verifiers")
    .option(
      "--drops <file>",
      "write a list of the rows whose gold answer is rejected, for a source's `drops`",
    )
    .action(ends(check));
  withSources(data.command("count <recipe-or-data>"))
    .description("count the rows of every source after each filter of a run, beside the paper's numbers")
    .action(ends(count));
  data
    .command("useful <evaluation>")
    .description(
      "estimate the share of groups that would have both right and wrong answers, and so teach something, from a folder of hone eval",
    )
    .option("--group <size>", "answers per group (rollouts.groupSize)", groupOf, 8)
    .option("--json", "print JSON")
    .action(ends(useful));
};
