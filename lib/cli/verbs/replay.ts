import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

async function replay(dir: string, flags: Common): Promise<number> {
  const { replayRun } = await import("../../orchestration/index.ts");
  const verdict = await replayRun(dir, {
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
    .option("--json", "print JSON")
    .action(ends(replay));
};
