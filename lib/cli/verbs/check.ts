import { checkRecipe, checkText } from "../check.ts";
import { EXIT } from "../exit.ts";
import { loadRecipe } from "../load-recipe.ts";
import { type Common, collect, print, SETTING, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly set: readonly string[];
}

async function check(file: string, flags: Flags): Promise<number> {
  const findings = await checkRecipe(await loadRecipe(file, flags.set));
  print(flags, findings, checkText(findings));
  return findings.stages.every(({ ok }) => ok) ? EXIT.done : EXIT.environment;
}

export const checkVerb: Verb = (hone, ends) => {
  hone
    .command("check <recipe>")
    .description(
      "dry run: model files, data, prompts and verifiers, memory, and one step with two layers of the same architecture",
    )
    .option(SETTING, "override a field (repeatable)", collect, [])
    .option("--json", "print JSON")
    .action(ends(check));
};
