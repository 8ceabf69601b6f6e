import { HoneError } from "../../errors.ts";
import { visibleJson } from "../../shared/text/visible-text.ts";
import { EXIT } from "../exit.ts";
import { TRUST, type TrustFlags, trustOf } from "../folder-trust.ts";
import { loadRecipe } from "../load-recipe.ts";
import { type Common, collect, SETTING, type Verb } from "./verb.ts";

interface Flags extends Common, TrustFlags {
  readonly step: string;
  readonly problem: string;
  readonly attempt: string;
  readonly token?: string;
  readonly set: readonly string[];
  readonly gradient?: boolean;
}

async function explain(dir: string, flags: Flags): Promise<number> {
  const { explainStep } = await import("../../explain/index.ts");
  const { COLORED, columnsOf, PLAIN, usesColor } = await import("../../report/index.ts");
  const { explanationText } = await import("../explanation-text.ts");
  const explanation = await explainStep(dir, {
    step: whole("--step", flags.step),
    problem: whole("--problem", flags.problem),
    attempt: whole("--attempt", flags.attempt),
    token: flags.token === undefined ? undefined : whole("--token", flags.token),
    set: flags.set,
    gradient: flags.gradient,
    trust: await trustOf(flags, flags.recipe === undefined ? undefined : await loadRecipe(flags.recipe)),
    onStep: (step) => process.stderr.write(`step ${step} trained again\n`),
  });
  const style = usesColor(process.stdout, process.env) ? COLORED : PLAIN;
  const text = flags.json
    ? visibleJson(explanation, 2)
    : explanationText(explanation, columnsOf(process.stdout), style);
  process.stdout.write(`${text}\n`);
  return EXIT.done;
}

/** Throws HONE_ERR_USAGE unless the text is an integer from 0 on. */
function whole(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HoneError("HONE_ERR_USAGE", `${name} is ${text}; a whole number is needed`);
}

export const explainVerb: Verb = (hone, ends) => {
  hone
    .command("explain <folder>")
    .description(
      "show why a token of a recorded run got its gradient: verdict, reward, advantage, ratio, clip, coefficient",
    )
    .requiredOption("--step <n>", "step of the run, numbered as in steps.jsonl")
    .requiredOption("--problem <id>", "problem id as listed by hone rollouts --step")
    .requiredOption("--attempt <k>", "number of the rollout within its group, from 0")
    .option("--token <t>", "explain only this token of the completion, counted from 0")
    .option(
      SETTING,
      "also show the result of other settings: reward, lengthPenalty, advantages, objective (repeatable)",
      collect,
      [],
    )
    .option(
      "--recipe <file>",
      "for a run whose objective is a module: your own recipe that names the same module",
    )
    .option(...TRUST)
    .option("--gradient", "also measure the share of the step's gradient, with additional backward passes")
    .option("--json", "print JSON")
    .action(ends(explain));
};
