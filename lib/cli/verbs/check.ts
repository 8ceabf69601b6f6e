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
      "check whether this version can run a recipe on this machine: model files, data, prompts, verifiers, memory, and one step with a small model",
    )
    .option(SETTING, "override a field of the recipe (repeatable)", collect, [])
    .option(
      "--launch",
      "ignore the last stage in the exit code: check the recipe for other machines, even if this one cannot run it",
    )
    .option("--no-judge", "do not call LLM judges: for judges that only other machines can reach")
    .option("--resolved", "print the recipe with every default as well")
    .option("--json", "print JSON")
    .option(...STRICT_CONFIG)
    .action(ends(check));
};
