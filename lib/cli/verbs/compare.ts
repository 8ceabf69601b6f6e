import { InvalidArgumentError, Option } from "commander";
import { HoneError } from "../../errors.ts";
import { TABLE_FORMATS, type TableFormat } from "../../report/table-formats.ts";
import { columnsOf } from "../../report/terminal.ts";
import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly format: TableFormat;
  readonly show: number;
}

async function compare(before: string, others: readonly string[], flags: Flags): Promise<number> {
  const { compareEvaluations, isEvaluation } = await import("../../suites/index.ts");
  const { comparisonText, notesOf } = await import("../evaluation-tables.ts");
  for (const dir of [before, ...others]) {
    if (isEvaluation(dir)) continue;
    throw new HoneError("HONE_ERR_USAGE", `${dir} is no folder of an evaluation`, {
      hint: "hone eval makes one, in evals/ unless --out says where.",
    });
  }
  const comparisons = others.map((after) => compareEvaluations(before, after, flags.show));
  const columns = columnsOf(process.stdout);
  const texts = comparisons.map((comparison) => comparisonText(comparison, flags.format, columns));
  print(flags, comparisons, texts.join("\n\n"));
  for (const note of comparisons.flatMap(notesOf)) process.stderr.write(`${note}\n`);
  return EXIT.done;
}

function shownOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

export const compareVerb: Verb = (hone, ends) => {
  hone
    .command("compare <first> <more...>")
    .description(
      "set evaluations (folders of hone eval) side by side with the first: differences, problems won and lost, lengths",
    )
    .addOption(new Option("--format <format>", "of the tables").choices([...TABLE_FORMATS]).default("text"))
    .option("--show <n>", "changed problems to show with their texts", shownOf, 4)
    .option("--json", "print JSON")
    .action(ends(compare));
};
