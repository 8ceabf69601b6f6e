import { EXIT } from "../exit.ts";
import { loadRecipe } from "../load-recipe.ts";
import { type Common, collect, print, SETTING, STRICT_CONFIG, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly resolved?: boolean;
  readonly set: readonly string[];
  readonly launch?: boolean;
  /** False with --no-judge. */
  readonly judge: boolean;
}

async function check(file: string, flags: Flags): Promise<number> {
  const { checkRecipe, checkText, RUN } = await import("../check.ts");
  const findings = await checkRecipe(await loadRecipe(file, flags.set), flags.judge);
  const resolved = flags.resolved ? `\n\n${JSON.stringify(findings.recipe, null, 2)}` : "";
  print(flags, findings, checkText(findings) + resolved);
  const counted = findings.stages.filter(({ name }) => !flags.launch || name !== RUN);
  return counted.every(({ ok }) => ok) ? EXIT.done : EXIT.environment;
}

export const checkVerb: Verb = (hone, ends) => {
  hone
    .command("check <recipe>")
    .description(
      "whether this version can run a recipe here: model files, data, prompts, verifiers, memory, and one step in small",
    )
    .option(SETTING, "override a field (repeatable)", collect, [])
    .option(
      "--launch",
      "exit with 0 where all but the last stage is sound: the recipe as planned for other machines, whatever this one can run",
    )
    .option("--no-judge", "ask no language model that judges: for one that only other machines reach")
    .option("--resolved", "print the recipe with every default as well")
    .option("--json", "print JSON")
    .option(...STRICT_CONFIG)
    .action(ends(check));
};
