import { once } from "node:events";
import { EXIT } from "../exit.ts";
import type { Verb } from "./verb.ts";

async function rollouts(
  dir: string,
  flags: { readonly step?: string; readonly json?: boolean },
): Promise<number> {
  const { rolloutLines } = await import("../rollouts.ts");
  for await (const line of rolloutLines(dir, flags)) {
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
  }
  return EXIT.done;
}

export const rolloutsVerb: Verb = (hone, ends) => {
  hone
    .command("rollouts <folder>")
    .description(
      'list what the steps of a run trained on, if its recipe says rollouts: { record: "last:20" }, or true',
    )
    .option("--step <n>", "the rollouts of one step, numbered as in steps.jsonl")
    .option("--json", "JSON lines: the steps, or with --step the step and its groups, arrays decoded")
    .action(ends(rollouts));
};
