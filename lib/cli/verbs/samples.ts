import { existsSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import type { Verdict } from "../../records.ts";
import { columnsOf } from "../../report/terminal.ts";
import { CHANGE_KINDS, HINT_KINDS, ORDERS, PROBLEM_KINDS } from "../../samples/choices.ts";
import { parseRange, type Range } from "../../samples/filter.ts";
import { visibleJson } from "../../shared/text/visible-text.ts";
import { EXIT } from "../exit.ts";
import type { SampleFlags } from "../samples.ts";
import type { Common, Verb } from "./verb.ts";

async function samples(dir: string, flags: SampleFlags & Common): Promise<number> {
  const { showSamples } = await import("../samples.ts");
  const { RUN_FILES, readRunManifest } = await import("../../metrics/run-folder.ts");
  if (!existsSync(join(dir, RUN_FILES.verdicts))) readRunManifest(dir); // throws if the folder is not a run's
  const { value, text } = await showSamples(dir, flags, columnsOf(process.stdout));
  process.stdout.write(`${flags.json ? visibleJson(value, 2) : text}\n`);
  return EXIT.done;
}

const natural = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
};

function range(text: string): Range {
  const found = parseRange(text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError("It must be like 7, 7.., ..7 or 7..12.");
}

const VERDICTS: Readonly<Record<Verdict["status"], true>> = {
  correct: true,
  partial: true,
  wrong: true,
  no_answer: true,
  unparsable: true,
  unscored: true,
};

function verdicts(text: string): Verdict["status"][] {
  const names = text.split(",");
  if (names.every((name): name is Verdict["status"] => Object.hasOwn(VERDICTS, name))) return names;
  throw new InvalidArgumentError(`It must be one of ${Object.keys(VERDICTS).join(", ")}.`);
}

export const samplesVerb: Verb = (hone, ends) => {
  hone
    .command("samples <run>")
    .description(
      "find and show completions of a run, its problems over time, and hints of reward hacking (docs/how-to/samples.md)",
    )
    .option("--step <n|a..b>", "only completions of these steps, numbered as in steps.jsonl", range)
    .option("--domain <name>", "only this domain")
    .option("--problem <id>", "only this problem", natural)
    .option("--group <n>", "only this group", natural)
    .option("--attempt <n>", "show this attempt of its group", natural)
    .option(
      "--verdict <names>",
      "only verdicts of these kinds: correct, partial, wrong, no_answer, unparsable, unscored",
      verdicts,
    )
    .option("--tokens <n|a..b>", "only completions with a number of tokens in this range", range)
    .option(
      "--weights <n|a..b>",
      "only completions with a token that these versions of the weights sampled",
      range,
    )
    .option("--truncated", "only completions truncated by the token budget")
    .option("--wrong-long", "only wrong completions that are longer than nine tenths of the domain's")
    .option(
      "--flipped-since <step>",
      "completions of problems that changed from mostly solved to mostly unsolved, or the reverse, since this step",
      natural,
    )
    .addOption(new Option("--order <which>", "sort order").choices([...ORDERS]))
    .option("--offset <n>", "skip this many", natural)
    .option("--limit <n>", "show at most this many (default: 20)", natural)
    .option("--show", "show the full texts: prompt as the model saw it, thought, response, reference")
    .option("--over-time", "show the groups of one problem over time, the first beside the last")
    .addOption(
      new Option("--problems [which]", "list problems instead of completions")
        .choices([...PROBLEM_KINDS])
        .preset("all"),
    )
    .addOption(
      new Option(
        "--before-after [which]",
        "held-out problems: answers before training beside those of the last evaluation, or of the one at --step",
      )
        .choices([...CHANGE_KINDS])
        .preset("all"),
    )
    .addOption(new Option("--hints [kind]", "signs of reward hacking").choices([...HINT_KINDS]))
    .option("--json", "print JSON")
    .action(ends(samples));
};
