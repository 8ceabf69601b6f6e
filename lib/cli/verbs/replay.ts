import { EXIT } from "../exit.ts";
import { TRUST, type TrustFlags, trustOf } from "../folder-trust.ts";
import { loadRecipe } from "../load-recipe.ts";
import { type Common, print, type Verb } from "./verb.ts";

type Flags = Common & TrustFlags;

async function replay(dir: string, flags: Flags): Promise<number> {
  const { replayRun } = await import("../../orchestration/index.ts");
  const recipe = flags.recipe === undefined ? undefined : await loadRecipe(flags.recipe);
  const verdict = await replayRun(dir, {
    recipe,
    trust: await trustOf(flags, recipe),
    onStep: (step) => flags.json || process.stdout.write(`step=${step}\n`),
  });
  const end = verdict.weightsCompared
    ? `weights ${verdict.weights}`
    : "the run did not get to its end, so there were no final weights to compare";
  print(flags, verdict, `the same to the bit: ${verdict.steps} steps, ${verdict.rollouts} rollouts, ${end}`);
  return EXIT.done;
}

export const replayVerb: Verb = (hone, ends) => {
  hone
    .command("replay <folder>")
    .description("execute a run again from its event log and compare every rollout and the weights by hash")
    .option(
      "--recipe <file>",
      "entry script that provides an objective that is a function; trusts the modules that it names",
    )
    .option(...TRUST)
    .option("--json", "print JSON")
    .action(ends(replay));
};
